// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook has a member function with the name of no callback, so it would never be called\. Mend: rename it to the callback that is meant
// expect-near: my_hook
// expect-near: "after_step".*"after_run"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void after_step(auto&) {}
#else
  void after_run(auto&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
