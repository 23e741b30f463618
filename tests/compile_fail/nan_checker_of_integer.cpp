// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: nan_checker looks at an integral value, which is always finite\. Mend: remove its name
#include <tautline/hooks/nan_checker.hpp>

#include "common.hpp"

auto plain_graph() {
  return static_graph{}.placeholder<"x">(1.0f).op<"loss", "x">([](float x) { return x; });
}

int main() {
  auto graph = plain_graph().op<"count", "x">([](float x) { return static_cast<int>(x); });
#ifndef CONTROL
  auto session = monitored(graph, nan_checker<"loss", "count">{});
#else
  auto session = monitored(graph, nan_checker<"loss">{});
#endif
  (void)session.run(fetch<"loss">);
}
