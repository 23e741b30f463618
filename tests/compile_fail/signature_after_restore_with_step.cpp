// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s after_restore cannot be called as a callback, so it would never act\. Mend: make it public and callable as after_restore\(\)
// expect-near: my_hook
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void after_restore(step_number) {}
#else
  void after_restore(life&) {}
#endif
  void close() {}
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run(target<"train">);
}
