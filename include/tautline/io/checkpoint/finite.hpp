// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tautline/core/tensor.hpp>

TAUTLINE_BEGIN
namespace detail {

#if defined(__SSE2__) || defined(__ARM_NEON) || defined(__ALTIVEC__) || defined(__riscv_vector)
inline constexpr bool has_vectors = true;
#else
inline constexpr bool has_vectors = false;  // made of words they would be slower and, on a Cortex-M4, 1 KiB of code
#endif

/// Whether an element is NaN or infinite, for elements of which `Exponent` are the bits of the exponent. By the bits, so
/// that -ffast-math changes nothing; in vectors, where the machine has them.
/// @return the index of the first one, `count` if there is none
template <class Bits, Bits Exponent>
std::size_t find_not_finite(std::byte const* data, std::size_t count) {
  std::size_t at = 0;
  if constexpr (has_vectors) {
    constexpr std::size_t lanes = 16 / sizeof(Bits), block = 64 * lanes;
    using vector [[gnu::vector_size(16)]] = Bits;
    static_assert(sizeof(vector) == 16);
    for (; at + block <= count; at += block) {
      vector found{};
      for (std::size_t i = 0; i < block; i += lanes) {
        vector words;
        std::memcpy(&words, data + (at + i) * sizeof(Bits), sizeof words);
        found |= __builtin_bit_cast(vector, (words & Exponent) == Exponent);
      }
      Bits any = 0;
      for (std::size_t lane = 0; lane < lanes; ++lane) any |= found[lane];
      if (any != 0) break;
    }
  }
  for (; at < count; ++at) {
    Bits word;
    std::memcpy(&word, data + at * sizeof(Bits), sizeof word);
    if ((word & Exponent) == Exponent) return at;
  }
  return count;
}

/// @param data `count` elements
/// @return the index of the first element that is NaN or infinite, else `count`
inline std::size_t find_not_finite(element_type type, std::byte const* data, std::size_t count) {
  switch (type) {
    case element_type::F16: return find_not_finite<std::uint16_t, 0x7c00>(data, count);
    case element_type::BF16: return find_not_finite<std::uint16_t, 0x7f80>(data, count);
    case element_type::F32: return find_not_finite<std::uint32_t, 0x7f800000>(data, count);
    case element_type::F64: return find_not_finite<std::uint64_t, 0x7ff0000000000000>(data, count);
    default: return count;
  }
}
inline std::size_t find_not_finite(tensor_view const& view) {
  return find_not_finite(view.type, static_cast<std::byte const*>(view.data), view.element_count());
}

}  // namespace detail
TAUTLINE_END
