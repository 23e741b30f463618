// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <tautline/core/error.hpp>

TAUTLINE_BEGIN

/// A part of a flash memory, or of a memory like it (EEPROM, FRAM); offsets count from its beginning. A driver of a few
/// lines, written by whoever knows the chip:
///
/// | member | |
/// |---|---|
/// | `static constexpr std::size_t sector_bytes` | what is erased in one piece; where sectors differ, the largest |
/// | `static constexpr std::size_t program_bytes` | what is programmed in one piece: 1, 4, 8, 16, 32 … |
/// | `std::size_t size()` | bytes of the region: two sectors or more |
/// | `status erase(std::size_t at)` | the sector at `at`; returns when it is done |
/// | `status program(std::size_t at, void const* from, std::size_t size)` | returns when it is done |
/// | `status read(std::size_t at, void* to, std::size_t size)` | any place, any size: a memcpy where it is mapped |
///
/// `program` is called with multiples of `program_bytes`, with `from` aligned to 8 bytes, and for each piece once between
/// two erasings of its sector.
///
/// **Errors** are for a memory that does not answer, or refuses: they come out of what was called. Bytes that are not
/// what they were are none, even where the chip knows by a code of its own, say after an interrupted programming: hand
/// out what is there. Checksums decide.
template <class Region>
concept flash_region = requires(Region& region, std::size_t at, void const* from, void* to, std::size_t size) {
  { Region::sector_bytes } -> std::convertible_to<std::size_t>;
  { Region::program_bytes } -> std::convertible_to<std::size_t>;
  { region.size() } -> std::convertible_to<std::size_t>;
  { region.erase(at) } -> std::same_as<status>;
  { region.program(at, from, size) } -> std::same_as<status>;
  { region.read(at, to, size) } -> std::same_as<status>;
};

TAUTLINE_END
