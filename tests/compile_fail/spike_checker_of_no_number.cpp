// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: spike_checker looks at a number, and this value is none\. Mend: fetch a reduction of it
#include <array>

#include <tautline/hooks/spike_checker.hpp>

#include "common.hpp"

auto plain_graph() {
  return static_graph{}.placeholder<"x">(1.0f).op<"loss", "x">([](float x) { return x; });
}

int main() {
  auto graph = plain_graph().op<"both", "x">([](float x) { return std::array<float, 2>{x, -x}; });
#ifndef CONTROL
  auto session = monitored(graph, spike_checker<"both">{});
#else
  auto session = monitored(graph, spike_checker<"loss">{});
#endif
  (void)session.run(fetch<"loss">);
}
