// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN
namespace detail {

/// By the bits and by reference: with -ffast-math the compiler may take a floating-point argument for finite, but not the
/// bytes in memory.
constexpr bool is_finite_number(float const& number) {
  return (__builtin_bit_cast(std::uint32_t, number) & 0x7f800000U) != 0x7f800000U;
}
constexpr bool is_finite_number(double const& number) {
  return (__builtin_bit_cast(std::uint64_t, number) & 0x7ff0000000000000U) != 0x7ff0000000000000U;
}
/// Not so with -ffast-math: its bits depend on the machine.
constexpr bool is_finite_number(long double const& number) { return number - number == 0; }

}  // namespace detail
TAUTLINE_END
