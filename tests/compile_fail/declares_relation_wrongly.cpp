// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s `runs_before`, `runs_after` or `tags` is no list of types\. Mend:
// expect-near: my_hook.*"runs_before"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  using runs_before = good_hook;
  void close() {}
#else
  using runs_before = hooks<good_hook>;
  void close() {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
