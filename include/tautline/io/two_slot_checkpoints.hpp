// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstring>
#include <type_traits>

#include <tautline/core/training_state.hpp>
#include <tautline/io/checkpoint/record_cursor.hpp>
#include <tautline/io/checkpoint/slot_format.hpp>
#include <tautline/io/flash_region.hpp>

TAUTLINE_BEGIN

/// Says nothing; not a callable, so that the lines that it would say are not in the program.
struct no_slot_report {};

/// Checkpoints in flash memory, in two slots that take turns (A/B, ping-pong): without heap, exceptions, threads or an
/// operating system.
///
///     my_flash region;                    // a flash_region: erase, program, read
///     two_slot_checkpoints saved{region};
///     auto session = monitored(graph, options{restore_from{saved}},
///                              checkpoint_saver{saved, every_steps{1000} | at_end}, …);
///
/// A saving goes to the slot that does not hold the newest whole checkpoint: it is erased, the values are written, then
/// the head, which makes it a checkpoint; then all is read back. So a reset at any moment leaves the last checkpoint or
/// the one before it. Restored is the newest one that is whole, all of which is checked before a value is touched. It
/// must be of this training: the same values by name, element type and shape, in the same order. What triggers remember
/// may be missing.
///
/// The bytes of a slot are written down in io/checkpoint/slot_format.hpp.
///
/// @param region must outlive this
/// @param report called with a line for each slot that is not what it should be: `report(char const*)`
/// **Errors** are values. `invalid_argument`: a checkpoint of another training or of a later format; a state that does
/// not fit (the message has both sizes). `nan`: a variable is not finite. `error`: what is there is damaged and nothing
/// else is whole; no training begins anew in silence. `internal`: the flash does not hold what was written. Else those
/// of the region. A restore that fails has touched nothing of the training, unless the region fails in the midst of it.
/// **Cost** of a saving: a look at the variables, a checksum over both slots (11 instructions a byte on a Cortex-M4),
/// and, by far the most, erasing the sectors that it needs and programming each piece once. Not for real time.
/// **Thread-safety** none.
template <flash_region Region, class Report = no_slot_report>
class two_slot_checkpoints {
 public:
  static constexpr std::size_t sector_bytes = Region::sector_bytes;
  static constexpr std::size_t program_bytes = Region::program_bytes;
  /// What is programmed at once, and where the values begin.
  static constexpr std::size_t block_bytes = program_bytes > 64 ? program_bytes : 64;
  static constexpr bool refuses_not_finite = true;

  static_assert(program_bytes > 0 && (program_bytes & (program_bytes - 1)) == 0, "program_bytes: a power of two");
  static_assert(sector_bytes > 0 && sector_bytes % block_bytes == 0, "sector_bytes: a multiple of block_bytes");
  static_assert(std::is_same_v<Report, no_slot_report> || std::is_invocable_v<Report&, char const*>,
                "tautline: the report on damaged slots is called with a line of text, and this one cannot be. Mend: give a "
                "callable that takes a char const*, or none");

  constexpr explicit two_slot_checkpoints(Region& region, Report report = {}) : region_(&region), report_(report) {}

  /// Bytes of one slot: half of the region, in whole sectors.
  [[nodiscard]] std::size_t slot_bytes() const { return region_->size() / 2 / sector_bytes * sector_bytes; }
  /// What a training needs of a slot, in bytes.
  [[nodiscard]] static std::size_t size_of(training_state const& state) {
    return needed_bytes(detail::slot_contents::of(state).bytes);
  }

  /// Whether the training fits; a `checkpoint_saver` asks when a session has been made.
  [[nodiscard]] status prepare(training_state const& state) { return fits(detail::slot_contents::of(state)); }

  /// Writes a checkpoint and reads it back. When it fails, what was restored before would be restored again.
  [[nodiscard]] status save(training_state const& state) {
    if (status const read = state.read(); !read.ok()) return read;
    auto const all = detail::slot_contents::of(state);
    if (all.not_finite) return {error_kind::nan, "flash: a variable is not finite"};
    if (status const fit = fits(all); !fit.ok()) return fit;
    checkpoint_slot found[2];
    if (status const seen = look(found); !seen.ok()) return seen;
    int const newest = detail::newest_of(found);
    std::size_t const to = newest == 0 ? 1 : 0;
    checkpoint_slot made;
    made.sequence = newest < 0 ? 1 : found[newest].sequence + 1;
    made.items = all.items, made.bytes = static_cast<std::uint32_t>(all.bytes), made.step = state.step();
    if (status const done = write(to, made, state); !done.ok()) return done;
    checkpoint_slot written;
    if (status const seen = look_at(to, written); !seen.ok()) return seen;
    if (written.condition != slot_condition::good || written.sequence != made.sequence) {
      return {error_kind::internal, "flash: it does not hold what was written"};
    }
    last_step_ = made.step;
    return {};
  }

  /// Puts the newest checkpoint that is whole into a training: all values, but of one that is running what is `kept`
  /// stays as it is.
  [[nodiscard]] restored restore(training_state const& state) {
    checkpoint_slot found[2];
    if (status const seen = look(found); !seen.ok()) return {seen};
    int const newest = detail::newest_of(found);
    damaged_ = 0;
    bool lost = false;
    for (int i = 0; i < 2; ++i) {
      slot_condition const seen = found[i].condition;
      if (seen != slot_condition::damaged && seen != slot_condition::unknown) continue;
      ++damaged_;
      lost = lost || seen == slot_condition::damaged;
      if constexpr (std::is_invocable_v<Report&, char const*>) report_(message_.found(i, seen, newest >= 0));
    }
    if (newest < 0) {
      return lost ? restored{lost_all} : restored{};
    }
    if (status const same = check(newest, found[newest], state); !same.ok()) return {same};
    if (status const done = put(newest, found[newest], state); !done.ok()) return {done};
    last_step_ = found[newest].step;
    return {{}, true, last_step_};
  }

  /// Forgets both checkpoints, the older one first.
  [[nodiscard]] status clear() {
    checkpoint_slot found[2];
    std::size_t const last = look(found).ok() && detail::newest_of(found) == 1 ? 1 : 0;
    if (slot_bytes() == 0) return too_small;
    status done = erase((1 - last) * slot_bytes());
    if (done.ok()) done = erase(last * slot_bytes());
    return done;
  }

  /// What stands in slot 0 or 1, all of it checked; `empty` for any other number.
  [[nodiscard]] checkpoint_slot slot(std::size_t which) const {
    checkpoint_slot found;
    if (which < 2 && slot_bytes() > 0) (void)look_at(which, found);
    return found;
  }
  /// Nothing could be restored.
  [[nodiscard]] bool is_empty() const {
    return slot(0).condition != slot_condition::good && slot(1).condition != slot_condition::good;
  }
  /// Slots that were `damaged` or `unknown` at the last restore: 1 and a restore is one from what was left.
  [[nodiscard]] int damaged() const { return damaged_; }
  /// Sectors that this object has erased. Over all resets: half of the newest `sequence` for each sector in use.
  [[nodiscard]] std::uint32_t erases() const { return erases_; }
  /// The step of the last saving or restore, -1 before the first.
  [[nodiscard]] step_number last_step() const { return last_step_; }

 private:
  using record = detail::slot_record;
  static constexpr status lost_all{error_kind::error,
                                   "flash: the checkpoint is damaged and there is no other (clear() begins anew)"};
  static constexpr status too_small{error_kind::invalid_argument, "flash: the region has less than two sectors"};

  /// Head and body, to the end of the last piece that is programmed.
  static std::size_t needed_bytes(std::size_t body) {
    return (block_bytes + body + program_bytes - 1) / program_bytes * program_bytes;
  }
  status fits(detail::slot_contents const& all) {
    std::size_t const needed = needed_bytes(all.bytes), available = slot_bytes();
    if (needed <= available && needed < record::trigger_bit) return {};
    return message_.does_not_fit(needed, available);
  }

  // --- reading ---

  status look_at(std::size_t which, checkpoint_slot& found) const {
    unsigned char bytes[block_bytes];
    std::size_t at = which * slot_bytes();
    if (status const read = region_->read(at, bytes, detail::slot_head_bytes); !read.ok()) return read;
    found = detail::load_head(bytes);
    if (found.condition != slot_condition::damaged) return {};
    std::size_t left = found.bytes;
    if (left > slot_bytes() - block_bytes || left / record::size < found.items) return {};
    std::uint32_t sum = ~0U;
    for (at += block_bytes; left > 0;) {
      std::size_t const size = left < block_bytes ? left : block_bytes;
      if (status const read = region_->read(at, bytes, size); !read.ok()) return read;
      sum = detail::slot_sum(sum, bytes, size);
      at += size, left -= size;
    }
    if (~sum == found.checksum) found.condition = slot_condition::good;
    return {};
  }
  status look(checkpoint_slot (&found)[2]) const {
    if (slot_bytes() == 0) return too_small;
    for (std::size_t i = 0; i < 2; ++i) {
      if (status const seen = look_at(i, found[i]); !seen.ok()) return seen;
      if (found[i].condition == slot_condition::newer) {
        return {error_kind::invalid_argument, "flash: a checkpoint of a later format (clear() forgets it)"};
      }
    }
    return {};
  }

  detail::record_cursor<Region> records_of(int which, checkpoint_slot const& found) {
    return {*region_, static_cast<std::size_t>(which) * slot_bytes() + block_bytes, found, message_};
  }
  /// Whether it is of this training, value by value.
  status check(int which, checkpoint_slot const& from, training_state const& state) {
    auto saved = records_of(which, from);
    state.each([&](state_item const& item) { (void)saved.find(item); });
    saved.finish();
    return saved.result();
  }
  status put(int which, checkpoint_slot const& from, training_state const& state) {
    auto saved = records_of(which, from);
    state.each([&](state_item const& item) {
      if (saved.find(item) && !(item.kept && state.is_running())) saved.put_into(item);
    });
    return saved.result();
  }

  // --- writing ---

  /// Gathers bytes until there is a block of them.
  struct stream {
    Region& to;
    std::size_t at;
    std::uint32_t sum = ~0U;
    std::size_t used = 0;
    status result{};
    alignas(8) unsigned char block[block_bytes];

    void put(void const* from, std::size_t size) {
      auto const* bytes = static_cast<unsigned char const*>(from);
      sum = detail::slot_sum(sum, bytes, size);
      while (size > 0) {
        std::size_t const free = block_bytes - used, part = size < free ? size : free;
        std::memcpy(block + used, bytes, part);
        used += part, bytes += part, size -= part;
        if (used == block_bytes) flush();
      }
    }
    void flush() {
      while (used % program_bytes != 0) block[used++] = 0xff;
      if (used > 0 && result.ok()) result = to.program(at, block, used);
      at += used, used = 0;
    }
  };

  status write(std::size_t which, checkpoint_slot& made, training_state const& state) {
    std::size_t const start = which * slot_bytes();
    // The head's sector first. Also a sector that looks erased: after an interruption it may not hold what is written.
    for (std::size_t at = 0; at < block_bytes + made.bytes; at += sector_bytes) {
      if (status const done = erase(start + at); !done.ok()) return done;
    }
    stream out{.to = *region_, .at = start + block_bytes, .block = {}};
    state.each([&](state_item const& item) {
      unsigned char bytes[record::size];
      record::of(item).store(bytes);
      out.put(bytes, sizeof bytes);
    });
    state.each([&](state_item const& item) { out.put(item.view.data, item.view.bytes()); });
    out.flush();
    made.checksum = ~out.sum;
    detail::store_head(out.block, made);
    out.at = start, out.used = detail::slot_head_bytes;
    out.flush();
    return out.result;
  }
  status erase(std::size_t at) {
    ++erases_;
    return region_->erase(at);
  }

  Region* region_;
  [[no_unique_address]] Report report_;
  step_number last_step_ = -1;
  std::uint32_t erases_ = 0;
  int damaged_ = 0;
  detail::slot_message message_;
};

TAUTLINE_END
