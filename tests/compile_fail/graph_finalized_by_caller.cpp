// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the graph was finalized when the session was made, so nothing can be added to it\. Mend: add the node before monitored\(\), or in a hook.s begin\(graph\)
// expect-near: "extra"
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  session.op<"extra", "w">([](float w) { return w; });
#else
  (void)session.raw();
#endif
  (void)session.run_to_completion(target<"train">);
}
