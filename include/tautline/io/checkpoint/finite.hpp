// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tautline/core/tensor.hpp>

TAUTLINE_BEGIN
namespace detail {

/// Whether an element is NaN or infinite, for elements of which `Exponent` are the bits of the exponent. By the bits, so
/// that -ffast-math changes nothing; blocks of a fixed size, so that every compiler makes vectors of it.
/// @return the index of the first one, `count` if there is none
template <class Bits, Bits Exponent>
std::size_t find_not_finite(std::byte const* data, std::size_t count) {
  constexpr std::size_t block = 1024;
  std::size_t at = 0;
  for (; at + block <= count; at += block) {
    Bits words[block];
    std::memcpy(words, data + at * sizeof(Bits), sizeof words);
    Bits found = 0;
    for (std::size_t i = 0; i < block; ++i) found |= static_cast<Bits>((words[i] & Exponent) == Exponent);
    if (found != 0) break;
  }
  for (; at < count; ++at) {
    Bits word;
    std::memcpy(&word, data + at * sizeof(Bits), sizeof word);
    if ((word & Exponent) == Exponent) return at;
  }
  return count;
}

/// @return the index of the first element that is NaN or infinite, else the number of elements
inline std::size_t find_not_finite(tensor_view const& view) {
  auto const* const data = static_cast<std::byte const*>(view.data);
  std::size_t const count = view.element_count();
  switch (view.type) {
    case element_type::F16: return find_not_finite<std::uint16_t, 0x7c00>(data, count);
    case element_type::BF16: return find_not_finite<std::uint16_t, 0x7f80>(data, count);
    case element_type::F32: return find_not_finite<std::uint32_t, 0x7f800000>(data, count);
    case element_type::F64: return find_not_finite<std::uint64_t, 0x7ff0000000000000>(data, count);
    default: return count;
  }
}

}  // namespace detail
TAUTLINE_END
