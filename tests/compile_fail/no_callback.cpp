// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this type has no callback, so it would never act\. Mend: give it at least one of begin
// expect-near: my_hook
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  int count = 0;
#else
  int count = 0;
  void close() {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
