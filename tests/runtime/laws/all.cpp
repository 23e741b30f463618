// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include "list.hpp"

// One test for each hook of the list.

#define TAUTLINE_TEST(name, header)                 \
  TEST_CASE("laws of " #name ", of " header) {      \
    auto const report = laws_of::name();            \
    CHECK_MESSAGE(report.good(), report.text());    \
  }
TAUTLINE_LAWS(TAUTLINE_TEST)
