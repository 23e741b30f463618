// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s before_run cannot be called as a callback, so it would never act\. Mend: make it public and callable as before_run\(
// expect-near: my_hook
// expect-near: "before_run"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void before_run() {}
#else
  void before_run(auto&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
