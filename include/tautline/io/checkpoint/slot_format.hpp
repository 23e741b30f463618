// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/io/two_slot_checkpoints.hpp>

#include <tautline/core/training_state.hpp>
#include <tautline/io/checkpoint/finite.hpp>
#include <tautline/io/crc32c.hpp>

// The bytes of a checkpoint in a slot, apart from where they are. Numbers have their lowest byte first.
//
// | at | bytes | |
// |--:|--:|---|
// | 0 | 3 | "tlc" |
// | 3 | 1 | the format, 1 |
// | 4 | 4 | number of the saving; of two the newer one is ahead by less than 2^31 |
// | 8 | 4 | number of values, n |
// | 12 | 4 | bytes behind the head |
// | 16 | 8 | completed steps |
// | 24 | 4 | CRC-32C of the bytes behind the head |
// | 28 | 4 | CRC-32C of the bytes 0 to 27 |
// | 64, or `program_bytes` if that is more | 8 n | a record for each value, see below |
// | then | | the values without gaps, as they lie in memory |
//
// A record: 4 bytes CRC-32C of the value's group, element type and rank (a byte each), owner and field (with a closing
// zero each) and shape (8 bytes a dimension); 4 bytes its length, of which bit 31 says that a trigger remembers it.

TAUTLINE_BEGIN

/// What stands in a slot.
enum class slot_condition : std::uint8_t {
  empty,    ///< nothing: erased, or a saving that did not get to its end
  unknown,  ///< no checkpoint: something else, or one whose head is not whole
  damaged,  ///< a checkpoint of which values are not what they were
  newer,    ///< a checkpoint of a later format
  good,     ///< a checkpoint, whole
};

/// One of two slots. @see two_slot_checkpoints::slot
struct checkpoint_slot {
  slot_condition condition = slot_condition::empty;
  std::uint32_t sequence = 0;  ///< the number of its saving
  std::uint32_t items = 0;     ///< values in it
  std::uint32_t bytes = 0;     ///< behind its head
  std::uint32_t checksum = 0;  ///< of these
  step_number step = 0;
};

namespace detail {

inline std::uint32_t slot_sum(std::uint32_t before, void const* data, std::size_t size) {
  return crc32c_by_nibble(before, static_cast<unsigned char const*>(data), size);
}
/// With its closing zero. A strlen and a strcmp optimized for speed are 1 KiB of newlib.
inline std::uint32_t slot_sum(std::uint32_t before, char const* words) {
  do before = slot_sum(before, words, 1);
  while (*words++ != 0);
  return before;
}
inline std::uint32_t load_word(unsigned char const* from) {
  std::uint32_t number = 0;
  for (int i = 3; i >= 0; --i) number = number << 8 | from[i];
  return number;
}
inline void store_word(unsigned char* to, std::uint32_t number) {
  for (int i = 0; i < 4; ++i, number >>= 8) to[i] = static_cast<unsigned char>(number);
}

// --- the head ---

inline constexpr std::size_t slot_head_bytes = 32;
inline constexpr std::uint32_t slot_magic = 0x636c74;  // "tlc", then a byte for the format
inline constexpr unsigned char slot_version = 1;

inline void store_head(unsigned char* to, checkpoint_slot const& of) {
  store_word(to, slot_magic | std::uint32_t{slot_version} << 24);
  store_word(to + 4, of.sequence), store_word(to + 8, of.items), store_word(to + 12, of.bytes);
  store_word(to + 16, static_cast<std::uint32_t>(of.step));
  store_word(to + 20, static_cast<std::uint32_t>(of.step >> 32));
  store_word(to + 24, of.checksum);
  store_word(to + 28, ~slot_sum(~0U, to, 28));
}
/// @return `damaged` as long as nobody has looked at what is behind the head
inline checkpoint_slot load_head(unsigned char const* from) {
  checkpoint_slot found;
  if (load_word(from + 28) != ~slot_sum(~0U, from, 28) || (load_word(from) & 0xffffff) != slot_magic) {
    bool blank = from[0] == 0xff || from[0] == 0;
    for (std::size_t i = 1; i < slot_head_bytes; ++i) blank = blank && from[i] == from[0];
    found.condition = blank ? slot_condition::empty : slot_condition::unknown;
    return found;
  }
  found.sequence = load_word(from + 4), found.items = load_word(from + 8), found.bytes = load_word(from + 12);
  found.step = static_cast<step_number>(std::uint64_t{load_word(from + 20)} << 32 | load_word(from + 16));
  found.checksum = load_word(from + 24);
  found.condition = from[3] == slot_version ? slot_condition::damaged : slot_condition::newer;
  return found;
}
/// @return the slot that is whole and ahead, -1 if none is whole
inline int newest_of(checkpoint_slot const (&slots)[2]) {
  bool const first = slots[0].condition == slot_condition::good, second = slots[1].condition == slot_condition::good;
  if (first && second) return static_cast<std::int32_t>(slots[1].sequence - slots[0].sequence) > 0 ? 1 : 0;
  return first ? 0 : second ? 1 : -1;
}

// --- the values ---

/// By what a value is known, and how long it is.
struct slot_record {
  static constexpr std::size_t size = 8;
  static constexpr std::uint32_t trigger_bit = 0x80000000;

  std::uint32_t form = 0;
  std::uint32_t bytes = 0;
  bool is_trigger = false;

  static slot_record of(state_item const& item) {
    unsigned char const kind[3]{static_cast<unsigned char>(item.group), static_cast<unsigned char>(item.view.type),
                                item.view.rank};
    std::uint32_t sum = slot_sum(~0U, kind, sizeof kind);
    sum = slot_sum(slot_sum(sum, item.owner), item.field);
    sum = slot_sum(sum, item.view.shape, item.view.rank * sizeof item.view.shape[0]);
    bool const triggers = item.group == state_group::hook && same_text(item.field, trigger_field);
    return {~sum, static_cast<std::uint32_t>(item.view.bytes()), triggers};
  }
  static slot_record load(unsigned char const* from) {
    std::uint32_t const length = load_word(from + 4);
    return {load_word(from), length & ~trigger_bit, (length & trigger_bit) != 0};
  }
  void store(unsigned char* to) const {
    store_word(to, form), store_word(to + 4, bytes | (is_trigger ? trigger_bit : 0));
  }
};

struct slot_contents {
  std::uint32_t items = 0;
  std::size_t bytes = 0;  ///< behind the head
  bool not_finite = false;

  static slot_contents of(training_state const& state) {
    slot_contents all;
    state.each([&](state_item const& item) {
      ++all.items;
      all.bytes += slot_record::size + item.view.bytes();
      if (item.group != state_group::variable || all.not_finite) return;
      all.not_finite = find_not_finite(item.view) != item.view.element_count();
    });
    return all;
  }
};

// --- words ---

/// Without the arithmetic of `put(double)`, which a microcontroller may not have otherwise.
TAUTLINE_COLD inline void put_number(writer& to, std::size_t number) {
  char digits[24];
  char* at = digits + sizeof digits - 1;
  *at = 0;
  do *--at = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  to.put(at);
}

/// A message in a buffer of one's own.
class slot_message {
 public:
  TAUTLINE_COLD status does_not_fit(std::size_t needed, std::size_t available) {
    writer words(text_, sizeof text_);
    words.put("flash: the training needs "), put_number(words, needed);
    words.put(" bytes, a slot has "), put_number(words, available);
    return {error_kind::invalid_argument, text_};
  }
  /// @param saved what stands at the index; null: the checkpoint has no more
  /// @param item null: the training has no more. Its name comes last, since it may be cut
  TAUTLINE_COLD status differs(std::uint32_t index, slot_record const* saved, state_item const* item) {
    writer words(text_, sizeof text_);
    words.put("flash: checkpoint of another training (clear() forgets it): value "), put_number(words, index);
    if (item == nullptr) {
      words.put(" is not in this training");
      return {error_kind::invalid_argument, text_};
    }
    std::size_t const wanted = item->view.bytes();
    if (saved == nullptr) {
      words.put(" is missing: ");
    } else if (saved->bytes != wanted) {
      words.put(" has "), put_number(words, saved->bytes);
      words.put(" bytes, not "), put_number(words, wanted), words.put(" as ");
    } else {
      words.put(" differs in name, type or shape from ");
    }
    char* const rest = words.position();
    item->write_name(rest, static_cast<std::size_t>(text_ + sizeof text_ - rest));
    return {error_kind::invalid_argument, text_};
  }
  TAUTLINE_COLD char const* found(int slot, slot_condition condition, bool other) {
    writer words(text_, sizeof text_);
    words.put("flash: slot "), words.put(static_cast<char>('0' + slot));
    bool const damaged = condition == slot_condition::damaged;
    words.put(damaged ? " holds a checkpoint that is damaged" : " holds no whole checkpoint");
    words.put(other ? "; the other one is used" : "");
    return text_;
  }

 private:
  char text_[152]{};
};

}  // namespace detail
TAUTLINE_END
