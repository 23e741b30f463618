// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <cstdint>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN
namespace detail {

/// What a number is besides a number, told by its bits: with -ffast-math a compiler takes all numbers for finite.
enum class number_class : std::uint8_t { finite, not_a_number, infinite, minus_infinite };

constexpr number_class classify(double const& number) {
  auto const bits = __builtin_bit_cast(std::uint64_t, number);
  if ((bits >> 52 & 0x7ff) != 0x7ff) return number_class::finite;
  if ((bits & 0xfffffffffffff) != 0) return number_class::not_a_number;
  return bits >> 63 != 0 ? number_class::minus_infinite : number_class::infinite;
}
/// A float is looked at as such: to make a double of it is arithmetic, of which -ffast-math thinks what it likes.
constexpr number_class classify(float const& number) {
  auto const bits = __builtin_bit_cast(std::uint32_t, number);
  if ((bits >> 23 & 0xff) != 0xff) return number_class::finite;
  if ((bits & 0x7fffff) != 0) return number_class::not_a_number;
  return bits >> 31 != 0 ? number_class::minus_infinite : number_class::infinite;
}
constexpr number_class classify(long double const& number) { return classify(static_cast<double>(number)); }

}  // namespace detail
TAUTLINE_END
