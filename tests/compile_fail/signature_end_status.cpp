// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s end cannot be called as a callback, so it would never act\. Mend: make it public and callable as end\(
// expect-near: my_hook
// expect-near: "end"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void end(auto&, bool) {}
#else
  void end(auto&, life&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
