// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook has on_enter or on_leave but cannot be told, so it would never act\. Mend: give it both
// expect-near: my_hook
#include "common.hpp"

struct my_hook {
  void on_enter(moment const&) noexcept {}
#ifndef CONTROL
  void on_leave(moment const&) {}
#else
  void on_leave(moment const&) noexcept {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run(target<"train">);
}
