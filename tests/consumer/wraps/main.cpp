// SPDX-License-Identifier: BSL-1.0
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/take.hpp>

#include <tautline/version.hpp>

TEST_CASE("the fallbacks are usable") {
  int sum = 0;
  for (int i : ranges::views::iota(1) | ranges::views::take(3)) sum += i;
  CHECK(fmt::format("{}.{}", sum, TAUTLINE_VERSION_MAJOR >= 0) == "6.true");
}
