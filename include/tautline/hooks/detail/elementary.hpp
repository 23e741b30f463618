// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/hooks/learning_rate_schedule.hpp>

#include <tautline/core/config.hpp>

// The few functions that schedules need, in constant expressions too, and with the same bits on every machine (where the
// compiler does not contract a*b+c): a training that is resumed elsewhere gets the rates that it would have got.

TAUTLINE_BEGIN
namespace detail {

inline constexpr double pi = 3.14159265358979323846;

/// cos(pi t) for t from 0 to 1, within 2e-16: the series, over a quarter of a turn.
constexpr double cosine_of_half_turns(double t) {
  bool const mirrored = t > 0.5;
  double const x = pi * (mirrored ? 1 - t : t);
  double sum = 0;
  for (int k = 22; k > 0; k -= 2) sum = (1 - sum) * x * x / (k * (k - 1));
  return mirrored ? sum - 1 : 1 - sum;
}

/// base^exponent for a whole exponent >= 0.
constexpr double whole_power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base) {
    if ((exponent & 1) != 0) result *= base;
  }
  return result;
}

/// base^part for base > 0 and part from 0 to 1, within some 1e-15 of it: exp(part * log(base)) by their series.
constexpr double part_power(double base, double part) {
  if (part == 0 || base == 1) return 1;
  if (!(base > 0)) return 0;
  int twos = 0;  // base = m * 2^twos with m in [0.7, 1.4]
  for (; base > 1.4142135623730951; base /= 2) ++twos;
  for (; base < 0.7071067811865476; base *= 2) --twos;
  double const z = (base - 1) / (base + 1);
  double log = 0;
  for (int k = 25; k > 0; k -= 2) log = log * z * z + 1.0 / k;
  double const x = part * (2 * z * log + twos * 0.69314718055994530942) / 16;
  double power = 1;
  for (int k = 14; k > 0; --k) power = 1 + power * x / k;
  return whole_power(power, 16);
}

}  // namespace detail
TAUTLINE_END
