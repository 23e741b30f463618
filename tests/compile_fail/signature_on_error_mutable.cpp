// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s on_error cannot be called as a callback, so it would never act\. Mend: make it public and callable as on_error\(
// expect-near: my_hook
// expect-near: "on_error"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void on_error(error&) {}
#else
  void on_error(error const&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
