// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s gate cannot be called as a callback, so it would never act\. Mend: make it public and callable as gate\(ctx\), or
// expect-near: my_hook
// expect-near: "gate"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void gate() {}
#else
  void gate(auto&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run(target<"train">);
}
