// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: ema finds no variable of floating-point numbers in this graph\. Mend: give the graph one
#include <tautline/hooks/ema.hpp>

#include "common.hpp"

int main() {
  auto graph = toy_graph();
#ifndef CONTROL
  auto counters = static_graph{}.variable<"n">(0).update<"train", "n">([](int& n) { ++n; });
  auto session = monitored(counters, ema(counters));
#else
  auto session = monitored(graph, ema(graph));
#endif
  (void)session.run(target<"train">);
}
