// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <list>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include <tautline/io/histogram.hpp>

using tautline::histogram;
using tautline::histogram_of;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double greatest = std::numeric_limits<double>::max();

/// Each number is where the edges say, whatever the rounding.
void check_edges(std::vector<double> const& numbers, std::size_t buckets = 30) {
  histogram const made = histogram_of(numbers, buckets);
  std::vector<std::uint64_t> counts(made.buckets);
  for (double const each : numbers) {
    std::size_t bucket = 0;
    while (bucket + 1 < made.buckets && each >= made.right(bucket)) ++bucket;
    CHECK(made.left(bucket) <= each);
    CHECK(each <= made.right(bucket));
    ++counts[bucket];
  }
  for (std::size_t i = 0; i < made.buckets; ++i) {
    CHECK(made.counts[i] == counts[i]);
    CHECK(std::isfinite(made.left(i)));
    CHECK(std::isfinite(made.right(i)));
  }
  CHECK(made.finite == numbers.size());
}
}  // namespace

TEST_CASE("numbers are counted in buckets of one width") {
  histogram const made = histogram_of(std::vector{0.0, 0.5, 1.0, 1.5, 4.0}, 4);
  CHECK(made.buckets == 4);
  CHECK(made.left(0) == 0);
  CHECK(made.right(0) == 1);
  CHECK(made.right(3) == 4);
  CHECK(made.counts[0] == 2);
  CHECK(made.counts[1] == 2);
  CHECK(made.counts[2] == 0);
  CHECK(made.counts[3] == 1);
  CHECK(made.finite == 5);
}

TEST_CASE("what is not finite lies in no bucket and is counted") {
  histogram const made = histogram_of(std::vector{no_number, 1.0, infinity, 2.0, -infinity, -no_number, -infinity, -infinity}, 2);
  CHECK(made.finite == 2);
  CHECK(made.nan == 2);
  CHECK(made.positive_infinity == 1);
  CHECK(made.negative_infinity == 3);
  CHECK(made.not_finite() == 6);
  CHECK(made.low == 1);
  CHECK(made.high == 2);
  CHECK(made.counts[0] == 1);
  CHECK(made.counts[1] == 1);
}

TEST_CASE("without finite numbers there are no buckets") {
  CHECK(histogram_of(std::vector<float>{}).buckets == 0);
  histogram const made = histogram_of(std::vector{no_number, infinity});
  CHECK(made.buckets == 0);
  CHECK(made.not_finite() == 2);
  CHECK(made.low == 0);
}

TEST_CASE("equal numbers have a bucket that can be seen") {
  for (double const each : {0.0, 1.0, -3.5, 1e300, greatest, -greatest, 5e-324}) {
    CAPTURE(each);
    histogram const made = histogram_of(std::array{each, each, each});
    CHECK(made.buckets == 1);
    CHECK(made.counts[0] == 3);
    CHECK(made.left(0) < made.right(0));
    CHECK(made.left(0) <= each);
    CHECK(each <= made.right(0));
    CHECK(std::isfinite(made.left(0)));
    CHECK(std::isfinite(made.right(0)));
  }
}

TEST_CASE("edges and counts agree, also at the ends of what a double can be") {
  std::vector<double> numbers;
  std::uint64_t state = 7;
  for (int i = 0; i < 2000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    numbers.push_back(static_cast<double>(state >> 11) * 0x1p-53 * 3 - 1);
  }
  check_edges(numbers);
  check_edges(numbers, 7);
  check_edges(numbers, 1);
  check_edges({-greatest, greatest, 0, 1e300, -1e308});
  check_edges({0, 5e-324, 1e-323});
  check_edges({1, std::nextafter(1, 2)});
  std::vector<double> tenths(101);  // on the edges
  for (std::size_t i = 0; i < tenths.size(); ++i) tenths[i] = static_cast<double>(i) / 10;
  check_edges(tenths, 10);
}

TEST_CASE("edges and counts agree just beside the edges") {
  double const ends[][2] = {{0.1, 0.7}, {-1.0 / 3, 2.0 / 3}, {1e-3, 1e3}, {-7.7, -0.3}, {1e10, 1e10 + 1}};
  for (auto const& [low, high] : ends) {
    for (std::size_t const buckets : std::array<std::size_t, 5>{3, 7, 30, 49, 64}) {
      histogram const made = histogram_of(std::array{low, high}, buckets);
      std::vector<double> numbers{low, high};
      for (std::size_t i = 1; i < buckets; ++i) {
        numbers.push_back(made.left(i));
        numbers.push_back(std::nextafter(made.left(i), low));
        numbers.push_back(std::nextafter(made.left(i), high));
      }
      check_edges(numbers, buckets);
    }
  }
}

TEST_CASE("the number of buckets has bounds") {
  std::vector const numbers{1, 2};
  CHECK(histogram_of(numbers, 0).buckets == 1);
  CHECK(histogram_of(numbers, 1000).buckets == histogram::max_buckets);
}

TEST_CASE("ranges of any number type, and tensors of any element type") {
  std::list<int> const integers{1, 2, 3};
  CHECK(histogram_of(integers, 2).finite == 3);
  CHECK(histogram_of(std::vector<bool>{true, false, true}, 2).counts[1] == 2);
  float floats[2][3] = {{0, 1, 2}, {3, 4, std::numeric_limits<float>::infinity()}};
  histogram const of_tensor = histogram_of(tautline::view_tensor(floats), 2);
  CHECK(of_tensor.finite == 5);
  CHECK(of_tensor.positive_infinity == 1);
  CHECK(of_tensor.high == 4);

  std::uint16_t half[] = {0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00, 0xfc00, 0x7e00};  // 1 -2 2^-24 65504 inf -inf nan
  tautline::tensor_view view = tautline::view_tensor(half);
  view.type = tautline::element_type::F16;
  histogram const of_half = histogram_of(view, 4);
  CHECK(of_half.low == -2);
  CHECK(of_half.high == 65504);
  CHECK(of_half.finite == 4);
  CHECK(of_half.nan == 1);
  CHECK(of_half.positive_infinity == 1);
  CHECK(of_half.negative_infinity == 1);
  std::uint16_t tiny[] = {0x0001, 0x0000};
  view = tautline::view_tensor(tiny);
  view.type = tautline::element_type::F16;
  CHECK(histogram_of(view).high == 0x1p-24);

  std::uint16_t brain[] = {0x3f80, 0xc000, 0x7f80, 0x7fc0};  // 1 -2 inf nan
  view = tautline::view_tensor(brain);
  view.type = tautline::element_type::BF16;
  histogram const of_brain = histogram_of(view);
  CHECK(of_brain.low == -2);
  CHECK(of_brain.high == 1);
  CHECK(of_brain.not_finite() == 2);
}
