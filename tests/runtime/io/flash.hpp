// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <tautline/io/flash_region.hpp>

// A flash memory that holds its users to the rules, and whose power goes when a test wants it to.

namespace io_test {

/// How much of the operation in progress takes place.
enum class cut {
  none,
  before,   ///< nothing of it
  after,    ///< all
  half,     ///< the first half of the piece or sector
  weak,     ///< in all of it some bits, by chance
  garbage,  ///< all of it may be anything
};

/// An operation is the erasing of a sector or the programming of one piece of `Program` bytes.
template <std::size_t Sector, std::size_t Program>
class flash {
 public:
  static constexpr std::size_t sector_bytes = Sector;
  static constexpr std::size_t program_bytes = Program;

  std::vector<unsigned char> bytes;
  std::vector<bool> programmed;  ///< pieces, since their sector was erased
  std::vector<int> erased;       ///< how often each sector was
  std::string violation;         ///< the first rule that was broken
  long operations = 0;
  long cut_at = -1;
  cut how = cut::none;
  bool dead = false;
  bool silent = false;      ///< the next piece that is programmed is not what was written, and nobody says so
  long fails_at_read = -1;  ///< that reading, and that erasing or programming, are refused; the power stays
  long refuses_at = -1;
  long reads = 0;

  explicit flash(std::size_t sectors, unsigned char content = 0xff)
      : bytes(sectors * Sector, content), programmed(bytes.size() / Program, content != 0xff), erased(sectors) {}

  /// The power comes back.
  void boot() { dead = false, cut_at = fails_at_read = refuses_at = -1, operations = reads = 0; }
  void lose_power_at(long operation, cut mode) { cut_at = operation, how = mode, operations = 0; }
  unsigned chance() { return random_ = random_ * 1664525U + 1013904223U, random_ >> 16; }

  [[nodiscard]] std::size_t size() const { return bytes.size(); }
  tautline::status erase(std::size_t at) {
    check(at % Sector == 0 && at < size(), "an erasing that begins in no sector");
    if (dead || at >= size()) return gone();
    if (operations == refuses_at) return ++operations, refused();
    ++erased[at / Sector];
    operate(at, Sector, [](unsigned char&, std::size_t) { return static_cast<unsigned char>(0xff); });
    std::fill_n(programmed.begin() + static_cast<std::ptrdiff_t>(at / Program), Sector / Program, dead);
    return dead ? gone() : tautline::status{};
  }
  tautline::status program(std::size_t at, void const* from, std::size_t length) {
    check(at % Program == 0 && length % Program == 0 && length > 0, "programming of a part of a piece");
    check(reinterpret_cast<std::uintptr_t>(from) % 8 == 0, "bytes that are not aligned");
    check(at + length <= size(), "programming outside");
    auto const* const source = static_cast<unsigned char const*>(from);
    for (std::size_t done = 0; done < length && !dead; done += Program) {
      std::size_t const piece = at + done;
      if (operations == refuses_at) return ++operations, refused();
      check(!programmed[piece / Program], "a piece that is programmed twice");
      programmed[piece / Program] = true;
      operate(piece, Program, [&](unsigned char& old, std::size_t i) {
        check((source[done + i] & ~old) == 0, "a bit that programming would set");
        return static_cast<unsigned char>(old & source[done + i]);
      });
      if (silent) bytes[piece] ^= 1, silent = false;
    }
    return dead ? gone() : tautline::status{};
  }
  tautline::status read(std::size_t at, void* to, std::size_t length) {
    if (dead || reads++ == fails_at_read) return gone();
    check(at + length <= size(), "reading outside");
    if (at + length <= size()) std::memcpy(to, bytes.data() + at, length);
    return {};
  }

 private:
  static tautline::status gone() { return {tautline::error_kind::internal, "the power is gone"}; }
  static tautline::status refused() { return {tautline::error_kind::internal, "the sector is worn out"}; }
  void check(bool good, char const* rule) {
    if (!good && violation.empty()) violation = rule;
  }
  template <class Change>
  void operate(std::size_t at, std::size_t length, Change change) {
    bool const ends = operations++ == cut_at;
    for (std::size_t i = 0; i < length; ++i) {
      unsigned char& byte = bytes[at + i];
      unsigned char const after = change(byte, i);
      cut const now = ends ? how : cut::none;
      if (now == cut::none || now == cut::after || (now == cut::half && i < length / 2)) byte = after;
      if (now == cut::weak) byte = static_cast<unsigned char>(byte ^ ((byte ^ after) & chance()));
      if (now == cut::garbage) byte = static_cast<unsigned char>(chance());
    }
    dead = ends;
  }

  unsigned random_ = 1;
};

}  // namespace io_test
