// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the first argument of monitored must be a graph or a backend, and this is none\. Mend: pass a static_graph
// expect-near: no_graph_first<int|Argument = int
#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(3, good_hook{});
#else
  auto session = monitored(toy_graph(), good_hook{});
#endif
  (void)session.run_to_completion(target<"train">);
}
