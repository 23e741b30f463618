// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tautline/core/config.hpp>

// CRC-32C: the polynomial 0x1EDC6F41 (Castagnoli), bits reflected, start and end inverted. The checksum of iSCSI, ext4
// and TensorFlow's event files; "123456789" has 0xE3069283.

TAUTLINE_BEGIN
namespace detail {

inline constexpr std::uint32_t crc32c_polynomial = 0x82F63B78;  // reflected

struct crc32c_tables {
  std::uint32_t of[8][256]{};
  constexpr crc32c_tables() {
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::uint32_t value = byte;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? crc32c_polynomial : 0);
      of[0][byte] = value;
    }
    for (int table = 1; table < 8; ++table) {
      for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t const before = of[table - 1][byte];
        of[table][byte] = (before >> 8) ^ of[0][before & 0xff];
      }
    }
  }
};
inline constexpr crc32c_tables crc32c_table{};

/// Eight bytes at a time by tables; on every machine.
inline std::uint32_t crc32c_by_table(std::uint32_t state, unsigned char const* at, std::size_t size) {
  auto const& of = crc32c_table.of;
  for (; size >= 8; at += 8, size -= 8) {
    std::uint32_t const low = state ^ (std::uint32_t{at[0]} | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 |
                                       std::uint32_t{at[3]} << 24);
    state = of[7][low & 0xff] ^ of[6][low >> 8 & 0xff] ^ of[5][low >> 16 & 0xff] ^ of[4][low >> 24] ^ of[3][at[4]] ^
            of[2][at[5]] ^ of[1][at[6]] ^ of[0][at[7]];
  }
  for (; size > 0; ++at, --size) state = (state >> 8) ^ of[0][(state ^ *at) & 0xff];
  return state;
}

struct crc32c_small_table {
  std::uint32_t of[16]{};
  constexpr crc32c_small_table() {
    for (std::uint32_t value = 0; value < 16; ++value) {
      of[value] = value;
      for (int bit = 0; bit < 4; ++bit) of[value] = (of[value] >> 1) ^ ((of[value] & 1) != 0 ? crc32c_polynomial : 0);
    }
  }
};
inline constexpr crc32c_small_table crc32c_nibbles{};

/// Four bits at a time, for where memory is scarce: 112 bytes with its table on a Cortex-M4 (-Os), 11 instructions for a
/// byte. Bit by bit it would be 40 bytes and some 45 instructions; with a table for whole bytes, 1060 bytes and 7.
inline std::uint32_t crc32c_by_nibble(std::uint32_t state, unsigned char const* at, std::size_t size) {
  auto const& of = crc32c_nibbles.of;
  for (; size > 0; ++at, --size) {
    state ^= *at;
    state = (state >> 4) ^ of[state & 0xf];
    state = (state >> 4) ^ of[state & 0xf];
  }
  return state;
}

/// a(x) * b(x) modulo the polynomial, both reflected: the highest bit is x^0.
constexpr std::uint32_t crc32c_multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 0x80000000; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? crc32c_polynomial : 0);
  }
  return product;
}

/// x to the power of 8 * `bytes`, modulo the polynomial: what so many bytes behind a text do to its checksum.
constexpr std::uint32_t crc32c_shift(std::uint64_t bytes) {
  std::uint32_t shift = 0x80000000;   // x^0
  std::uint32_t square = 0x00800000;  // x^8
  for (; bytes != 0; bytes >>= 1) {
    if ((bytes & 1) != 0) shift = crc32c_multiply(shift, square);
    square = crc32c_multiply(square, square);
  }
  return shift;
}

#if defined(__x86_64__)
[[gnu::target("sse4.2")]] inline std::uint32_t crc32c_by_instruction(std::uint32_t state, unsigned char const* at,
                                                                     std::size_t size) {
  // the instruction takes one word a cycle, but gives its result after three: so three strands at a time
  constexpr std::size_t strand = 8192;
  constexpr std::uint32_t shift = crc32c_shift(strand);
  for (; size >= 3 * strand; at += 3 * strand, size -= 3 * strand) {
    std::uint64_t first = state, second = 0, third = 0;
    for (std::size_t i = 0; i < strand; i += 8) {
      std::uint64_t words[3];
      std::memcpy(&words[0], at + i, 8);
      std::memcpy(&words[1], at + i + strand, 8);
      std::memcpy(&words[2], at + i + 2 * strand, 8);
      first = __builtin_ia32_crc32di(first, words[0]);
      second = __builtin_ia32_crc32di(second, words[1]);
      third = __builtin_ia32_crc32di(third, words[2]);
    }
    state = crc32c_multiply(static_cast<std::uint32_t>(first), shift) ^ static_cast<std::uint32_t>(second);
    state = crc32c_multiply(state, shift) ^ static_cast<std::uint32_t>(third);
  }
  std::uint64_t wide = state;
  for (; size >= 8; at += 8, size -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  state = static_cast<std::uint32_t>(wide);
  for (; size > 0; ++at, --size) state = __builtin_ia32_crc32qi(state, *at);
  return state;
}
inline bool crc32c_has_instruction() { return __builtin_cpu_supports("sse4.2") != 0; }
#else
inline std::uint32_t crc32c_by_instruction(std::uint32_t state, unsigned char const* at, std::size_t size) {
  return crc32c_by_table(state, at, size);
}
inline bool crc32c_has_instruction() { return false; }
#endif

}  // namespace detail

/// The checksum of `size` bytes behind bytes whose checksum is `before`: a long text may come in pieces.
/// **Cost** the CRC32 instruction of SSE 4.2 where the processor has it (asked at run time): about a cycle for 8 bytes;
/// tables of 8 KiB elsewhere, some ten times as much.
[[nodiscard]] inline std::uint32_t crc32c(void const* data, std::size_t size, std::uint32_t before = 0) {
  auto const* const bytes = static_cast<unsigned char const*>(data);
  std::uint32_t const state = ~before;
  return ~(detail::crc32c_has_instruction() ? detail::crc32c_by_instruction(state, bytes, size)
                                            : detail::crc32c_by_table(state, bytes, size));
}

/// As files of records store it, TensorFlow's event files for one: a checksum of bytes that hold checksums is of little
/// worth, so it is turned and moved.
[[nodiscard]] inline std::uint32_t masked_crc32c(void const* data, std::size_t size) {
  std::uint32_t const sum = crc32c(data, size);
  return (sum >> 15 | sum << 17) + 0xa282ead8U;
}

/// The checksum of a text from those of its two parts. **Cost** some hundred operations, whatever the size.
[[nodiscard]] constexpr std::uint32_t crc32c_joined(std::uint32_t first, std::uint32_t second,
                                                    std::uint64_t second_size) {
  return detail::crc32c_multiply(first, detail::crc32c_shift(second_size)) ^ second;
}

TAUTLINE_END
