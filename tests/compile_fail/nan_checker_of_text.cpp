// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: nan_checker looks at floating-point numbers, arrays and ranges of them, and types with allFinite\(\)
#include <tautline/hooks/nan_checker.hpp>

#include "common.hpp"

struct label {
  char letter;
};

auto plain_graph() {
  return static_graph{}.placeholder<"x">(1.0f).op<"loss", "x">([](float x) { return x; });
}

int main() {
  auto graph = plain_graph().op<"label", "x">([](float) { return label{'a'}; });
#ifndef CONTROL
  auto session = monitored(graph, nan_checker<"label">{});
#else
  auto session = monitored(graph, nan_checker<"loss">{});
#endif
  (void)session.run(fetch<"loss">);
}
