// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s close cannot be called as a callback, so it would never act\. Mend: make it public and callable as close\(
// expect-near: my_hook
// expect-near: "close"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void close(int) {}
#else
  void close() {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
