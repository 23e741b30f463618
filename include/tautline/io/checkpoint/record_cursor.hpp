// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/io/two_slot_checkpoints.hpp>

#include <tautline/io/checkpoint/slot_format.hpp>
#include <tautline/io/flash_region.hpp>

TAUTLINE_BEGIN
namespace detail {

/// Goes over the records of a checkpoint, and over its values beside them, in step with the values of a training.
/// **Errors** the first one stays: nothing is read after it.
template <flash_region Region>
class record_cursor {
 public:
  /// @param records where they begin in the region
  record_cursor(Region& region, std::size_t records, checkpoint_slot const& of, slot_message& message)
      : region_(&region), message_(&message), records_(records), end_(records + of.bytes), items_(of.items),
        next_{0, records + slot_record::size * of.items} {}

  /// Goes to the value that is saved for this one, past what other triggers remember, and is an error if there is none.
  /// @return whether there is one: what a trigger remembers may be missing
  bool find(state_item const& item) {
    slot_record const wanted = slot_record::of(item);
    place at = next_;
    while (read(at)) {
      bool const inside = saved_.bytes <= end_ - at.value;  // no sum of both: it may not fit into 32 bits
      if (inside && saved_.form == wanted.form && saved_.bytes == wanted.bytes) {
        found_ = at.value;
        next_ = {at.index + 1, at.value + saved_.bytes};
        return true;
      }
      if (!inside || !saved_.is_trigger) break;
      at = {at.index + 1, at.value + saved_.bytes};  // another trigger, or none, is no other hook
    }
    if (result_.ok() && !wanted.is_trigger) {
      result_ = message_->differs(at.index, at.index < items_ ? &saved_ : nullptr, &item);
    }
    return false;
  }
  /// Copies what was found into it.
  void put_into(state_item const& item) {
    if (saved_.bytes > 0) result_ = region_->read(found_, item.view.data, saved_.bytes);
  }
  /// The training has no more: nor may the checkpoint, but for triggers.
  void finish() {
    for (; read(next_); ++next_.index) {
      if (!saved_.is_trigger) result_ = message_->differs(next_.index, &saved_, nullptr);
    }
  }
  [[nodiscard]] status result() const { return result_; }

 private:
  struct place {
    std::uint32_t index;  ///< among the records
    std::size_t value;    ///< in the region
  };

  /// @return false after the last record, and after an error
  bool read(place at) {
    if (!result_.ok() || at.index >= items_) return false;
    unsigned char bytes[slot_record::size]{};
    result_ = region_->read(records_ + slot_record::size * at.index, bytes, sizeof bytes);
    saved_ = slot_record::load(bytes);
    return result_.ok();
  }

  Region* region_;
  slot_message* message_;
  std::size_t records_, end_;
  std::uint32_t items_;
  place next_;  ///< behind what was found
  std::size_t found_ = 0;
  slot_record saved_;  ///< what was read last
  status result_{};
};

}  // namespace detail
TAUTLINE_END
