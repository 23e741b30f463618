// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>
#include <span>
#include <type_traits>

#include <tautline/core/finite.hpp>
#include <tautline/core/tensor.hpp>
#include <tautline/io/detail/number_class.hpp>

TAUTLINE_BEGIN

/// How many of some numbers lie where: buckets of one width from the least to the greatest finite number. NaN and
/// infinities lie in no bucket and are counted apart.
struct histogram {
  static constexpr std::size_t max_buckets = 64;

  std::size_t buckets = 0;  ///< 0 without finite numbers, 1 if all are equal
  double low = 0;           ///< left edge of the first bucket
  double high = 0;          ///< right edge of the last one
  std::uint64_t counts[max_buckets]{};
  std::uint64_t finite = 0;             ///< the sum of `counts`
  std::uint64_t nan = 0;
  std::uint64_t positive_infinity = 0;
  std::uint64_t negative_infinity = 0;

  [[nodiscard]] std::uint64_t not_finite() const { return nan + positive_infinity + negative_infinity; }
  /// A number x of bucket i has left(i) <= x < right(i); the last bucket has its right edge, too.
  [[nodiscard]] double left(std::size_t bucket) const {
    if (bucket == buckets) return high;
    double const part = static_cast<double>(bucket) / static_cast<double>(buckets);
    return std::clamp(low * (1 - part) + high * part, low, high);  // high - low may be infinite
  }
  [[nodiscard]] double right(std::size_t bucket) const { return left(bucket + 1); }
};

namespace detail {

inline void count_not_finite(histogram& into, double number) {
  switch (classify(number)) {
    case number_class::finite: break;
    case number_class::not_a_number: ++into.nan; break;
    case number_class::infinite: ++into.positive_infinity; break;
    case number_class::minus_infinite: ++into.negative_infinity; break;
  }
}

inline void count_number(histogram& into, double number) {
  double const part = (number - into.low) / (into.high - into.low);  // of no worth where the difference is infinite
  std::size_t const last = into.buckets - 1;
  auto bucket = part > 0 ? std::min(last, static_cast<std::size_t>(part * static_cast<double>(into.buckets))) : 0;
  // the edges have the last word; what the rounding of the quotient says may differ by one
  while (bucket > 0 && number < into.left(bucket)) --bucket;
  while (bucket < last && number >= into.right(bucket)) ++bucket;
  ++into.counts[bucket];
}

inline float from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
inline float from_half(std::uint16_t bits) {
  int const exponent = bits >> 10 & 31;
  auto const fraction = static_cast<float>(bits & 1023);
  float size = exponent == 31 ? (fraction > 0 ? std::numeric_limits<float>::quiet_NaN()
                                              : std::numeric_limits<float>::infinity())
               : exponent == 0 ? std::ldexp(fraction, -24)
                               : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

}  // namespace detail

/// The histogram of a range of numbers, which is read twice.
///
///     std::vector<float> weights = …;
///     histogram const of_weights = histogram_of(weights);
///
/// @param buckets from 1 to 64
/// **Cost** two passes over the numbers; no allocation.
template <std::ranges::forward_range Numbers>
  requires std::is_arithmetic_v<std::ranges::range_value_t<Numbers>>
[[nodiscard]] histogram histogram_of(Numbers&& numbers, std::size_t buckets = 30) {
  histogram made;
  for (auto const& each : numbers) {
    auto const number = static_cast<double>(each);
    if (detail::is_finite_number(number)) {
      made.low = made.finite == 0 ? number : std::min(made.low, number);
      made.high = made.finite == 0 ? number : std::max(made.high, number);
      ++made.finite;
    } else {
      detail::count_not_finite(made, number);
    }
  }
  if (made.finite == 0) return made;
  if (made.low == made.high) {  // a bucket needs a width to be seen
    double const half = std::max(0.5, std::abs(made.low) * 1e-6);
    double const most = std::numeric_limits<double>::max();
    made.buckets = 1;
    made.counts[0] = made.finite;
    made.low = std::max(made.low - half, -most), made.high = std::min(made.high + half, most);
    return made;
  }
  made.buckets = std::clamp(buckets, std::size_t{1}, histogram::max_buckets);
  for (auto const& each : numbers) {
    auto const number = static_cast<double>(each);
    if (detail::is_finite_number(number)) detail::count_number(made, number);
  }
  return made;
}

/// The same of a tensor of any element type.
[[nodiscard]] inline histogram histogram_of(tensor_view const& tensor, std::size_t buckets = 30) {
  auto const of = [&]<class Element>(Element const*) {
    return histogram_of(std::span(static_cast<Element const*>(tensor.data), tensor.element_count()), buckets);
  };
  auto const converted = [&](float (*convert)(std::uint16_t)) {
    return histogram_of(std::span(static_cast<std::uint16_t const*>(tensor.data), tensor.element_count()) |
                            std::views::transform(convert), buckets);
  };
  switch (tensor.type) {
    case element_type::BOOL: return of(static_cast<bool const*>(nullptr));
    case element_type::U8: return of(static_cast<std::uint8_t const*>(nullptr));
    case element_type::I8: return of(static_cast<std::int8_t const*>(nullptr));
    case element_type::U16: return of(static_cast<std::uint16_t const*>(nullptr));
    case element_type::I16: return of(static_cast<std::int16_t const*>(nullptr));
    case element_type::F16: return converted(&detail::from_half);
    case element_type::BF16: return converted(&detail::from_bfloat16);
    case element_type::U32: return of(static_cast<std::uint32_t const*>(nullptr));
    case element_type::I32: return of(static_cast<std::int32_t const*>(nullptr));
    case element_type::F32: return of(static_cast<float const*>(nullptr));
    case element_type::U64: return of(static_cast<std::uint64_t const*>(nullptr));
    case element_type::I64: return of(static_cast<std::int64_t const*>(nullptr));
    case element_type::F64: return of(static_cast<double const*>(nullptr));
  }
  return {};
}

TAUTLINE_END
