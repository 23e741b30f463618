// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: ema averages variables of float or double\. Mend: name such variables of the graph
#include <tautline/hooks/ema.hpp>

#include "common.hpp"

int main() {
  auto graph = toy_graph();
#ifndef CONTROL
  auto session = monitored(graph, ema<"w", "loss">(graph));
#else
  auto session = monitored(graph, ema<"w">(graph));
#endif
  (void)session.run(target<"train">);
}
