// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the graph was finalized when the session was made, so nothing can be added to it\. Mend: add the node before monitored\(\), or in a hook.s begin\(graph\)
// expect-near: "extra"
#include "common.hpp"

struct my_hook {
  void after_create_session(auto& session) {
#ifndef CONTROL
    session.backend().template op<"extra", "w">([](float w) { return w; });
#else
    (void)session.backend().template value<"w">();
#endif
  }
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
