// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this type has no callback
// expect-near: my_hook
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  using category = check;
#else
  using category = check;
  void after_run(auto&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
