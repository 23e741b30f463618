// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: nan_checker looks at floating-point numbers, arrays and ranges of them, and types with allFinite\(\)
#include <tautline/hooks/nan_checker.hpp>

#include "common.hpp"

struct label {
  char letter;
};

int main() {
  auto graph = toy_graph().op<"label", "x">([](float) { return label{'a'}; });
#ifndef CONTROL
  auto session = monitored(graph, nan_checker<"label">{});
#else
  auto session = monitored(graph, nan_checker<"loss">{});
#endif
  (void)session.run(target<"train">);
}
