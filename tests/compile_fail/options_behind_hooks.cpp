// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: options stand once, directly behind the graph\. Mend: write monitored\(graph, options\{\.\.\.\}, hooks\.\.\.\)
// expect-near: max_recoveries
#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), good_hook{}, options{max_recoveries{2}});
#else
  auto session = monitored(toy_graph(), options{max_recoveries{2}}, good_hook{});
#endif
  (void)session.run_to_completion(target<"train">);
}
