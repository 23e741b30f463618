// SPDX-License-Identifier: BSL-1.0
// Compiled with -O2 -ffast-math, where the compiler may take every floating-point number for finite.
#include <array>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include <tautline/hooks/nan_checker.hpp>

namespace {

// opaque to the optimiser
std::uint32_t volatile nan_bits = 0x7fc00000U;
std::uint32_t volatile infinity_bits = 0xff800000U;
std::uint64_t volatile double_nan_bits = 0x7ff8000000000000U;

template <class Float, class Bits>
void put(Float& number, Bits bits) {
  static_assert(sizeof number == sizeof bits);
  std::memcpy(&number, &bits, sizeof number);
}

}  // namespace

TEST_CASE("-ffast-math does not blind the check") {
  float number = 1;
  CHECK(tautline::detail::all_finite(number));
  put(number, std::uint32_t{nan_bits});
  CHECK_FALSE(tautline::detail::all_finite(number));
  put(number, std::uint32_t{infinity_bits});
  CHECK_FALSE(tautline::detail::all_finite(number));
  double large = 1;
  put(large, std::uint64_t{double_nan_bits});
  CHECK_FALSE(tautline::detail::all_finite(large));

  std::vector<float> row(100, 2.0f);
  CHECK(tautline::detail::all_finite(row));
  put(row[50], std::uint32_t{infinity_bits});
  CHECK_FALSE(tautline::detail::all_finite(row));
  CHECK(tautline::detail::find_not_finite(row).index == 50);
}
