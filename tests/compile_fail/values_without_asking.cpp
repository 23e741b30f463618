// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook has after_run\(ctx, values\) but asks for no values, so it would never be called\. Mend: return fetch<"name"> from before_run
// expect-near: my_hook
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void after_run(auto&, auto&) {}
#else
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto&, auto&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
