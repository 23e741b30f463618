// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s after_run cannot be called as a callback, so it would never act\. Mend: make it public and callable as after_run\(
// expect-near: my_hook
// expect-near: "after_run"
#include "common.hpp"

struct base {
#ifndef CONTROL
  void after_run() {}
#else
  void after_run(auto&) {}
#endif
};
struct my_hook : base {};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
