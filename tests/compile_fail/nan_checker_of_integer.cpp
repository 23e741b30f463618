// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: nan_checker looks at an integral value, which is always finite\. Mend: remove its name
#include <tautline/hooks/nan_checker.hpp>

#include "common.hpp"

int main() {
  auto graph = toy_graph().op<"count", "x">([](float x) { return static_cast<int>(x); });
#ifndef CONTROL
  auto session = monitored(graph, nan_checker<"loss", "count">{});
#else
  auto session = monitored(graph, nan_checker<"loss">{});
#endif
  (void)session.run(target<"train">);
}
