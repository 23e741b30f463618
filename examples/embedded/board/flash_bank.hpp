// SPDX-License-Identifier: BSL-1.0
//
// The bank of flash for data, played by memory that survives a reset: what is erased is all ones, programming makes
// zeros. The power may go at any word: see `cut`.

#pragma once

#include <cstddef>
#include <cstdint>

#include <tautline/io/flash_region.hpp>

#include "semihosting.hpp"
#include "tick.hpp"

extern "C" std::uint32_t board_kept_begin[], board_kept_end[];

namespace board {

/// What outlives a reset besides the flash: in front of it.
struct kept_words {
  static constexpr std::uint32_t mark = 0x7a07114e;
  std::uint32_t powered;  // `mark` unless this is the first boot
  std::uint32_t boots;
  std::uint32_t writes;  // words of flash that were erased or programmed
  std::uint32_t cut;     // at this one the power goes; 0: at none
};
inline kept_words& kept() { return *reinterpret_cast<kept_words*>(board_kept_begin); }

class flash_bank {
 public:
  static constexpr std::size_t sector_bytes = 512;
  static constexpr std::size_t program_bytes = 8;

  static std::size_t size() { return static_cast<std::size_t>(board_kept_end - words()) * 4; }

  static tautline::status erase(std::size_t at) {
    if (at % sector_bytes != 0 || at >= size()) return refused();
    for (std::size_t i = 0; i < sector_bytes / 4; ++i) write(words() + at / 4 + i, 0xffffffff);
    return {};
  }
  static tautline::status program(std::size_t at, void const* from, std::size_t bytes) {
    if (at % program_bytes != 0 || bytes % program_bytes != 0) return refused();
    if (bytes > size() || at > size() - bytes) return refused();
    auto const* given = static_cast<std::uint32_t const*>(from);  // aligned, as flash_region promises
    for (std::size_t i = 0; i < bytes / 4; ++i) {
      std::uint32_t* const place = words() + at / 4 + i;
      if (*place != 0xffffffff) return refused();  // programmed before, and not erased since
      write(place, given[i]);
    }
    return {};
  }
  static tautline::status read(std::size_t at, void* to, std::size_t bytes) {
    if (bytes > size() || at > size() - bytes) return refused();
    __builtin_memcpy(to, reinterpret_cast<char const*>(words()) + at, bytes);
    return {};
  }

  /// As it comes from the factory.
  static void wipe() {
    for (std::uint32_t* each = words(); each != board_kept_end; ++each) *each = 0xffffffff;
  }

 private:
  static std::uint32_t* words() { return board_kept_begin + 256; }
  static tautline::status refused() { return {tautline::error_kind::internal, "the flash bank refused"}; }

  /// Where the power goes, some bits of the word have made it, and others have not.
  static void write(std::uint32_t* place, std::uint32_t value) {
    if (++kept().writes == kept().cut) {
      std::uint32_t const some = 0x5a5a5a5a ^ kept().cut * 0x9e3779b9;
      *place = (*place & ~some) | (value & some);
      reset_now();
    }
    *place = value;
  }
};
static_assert(tautline::flash_region<flash_bank>);

/// Called first in main(). At power-on the flash is new, and the emulator's command line says where the power goes: `cut=300`
inline void boot() {
  kept_words& all = kept();
  if (all.powered != kept_words::mark) {
    all = {};
    all.powered = kept_words::mark;
    all.cut = option("cut", 0);
    flash_bank::wipe();
  }
  ++all.boots;
}

}  // namespace board
