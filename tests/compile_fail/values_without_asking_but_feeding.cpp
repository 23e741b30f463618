// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook has after_run\(ctx, values\) but asks for no values
// expect-near: my_hook
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  auto before_run(auto&) { return feed<"rate">(0.2f); }
  void after_run(auto&, auto const&) {}
#else
  auto before_run(auto&) { return feed<"rate">(0.2f); }
  void after_run(auto const&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
