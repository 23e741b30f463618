// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s begin cannot be called as a callback, so it would never act\. Mend: make it public and callable as begin\(
// expect-near: my_hook
// expect-near: "begin"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void begin() {}
#else
  void begin(auto&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
