// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the graph was finalized when the session was made, so nothing can be added to it\. Mend: add the node before monitored\(\), or in a hook.s begin\(graph\)
// expect-near: "extra"
#include "common.hpp"

struct my_hook {
  void end(auto& session) {
#ifndef CONTROL
    session.template source<"extra">(0.0f, [](float&) { return false; });
#else
    (void)session.step();
#endif
  }
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
