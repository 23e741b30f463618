// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook has a member function with the name of no callback, so it would never be called\. Mend: rename it to the callback that is meant
// expect-near: my_hook
// expect-near: "after_step".*"after_run"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto&, auto&) {}
  void after_step(int, int) {}
#else
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto&, auto&) {}
  int after_step = 3;  // data is no callback
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
