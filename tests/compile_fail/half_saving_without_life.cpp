// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this saver has wants_save or save but cannot be called, so it would never save\. Mend: give it both
// expect-near: my_hook
#include "common.hpp"

auto plain_graph() {
  return static_graph{}.variable<"w">(0.0f).update<"train", "w">([](float& w) { w += 1; });
}

struct my_hook {
  using category = saver;
  static constexpr bool stateless = true;
  bool wants_save() { return true; }
#ifndef CONTROL
  void save(training_state const&) {}
#else
  void save(training_state const&, life&) {}
#endif
  void close() {}
};

int main() {
  auto session = monitored(plain_graph(), my_hook{});
  (void)session.run(target<"train">);
}
