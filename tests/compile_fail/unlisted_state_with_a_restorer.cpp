// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this session saves or restores checkpoints, and this hook does not say what of it must be saved\. Mend: give it `auto state\(\)
// expect-near: my_hook
#include "common.hpp"

auto plain_graph() {
  return static_graph{}.variable<"w">(0.0f).update<"train", "w">([](float& w) { w += 1; });
}

struct my_store {
  restored restore(training_state const&) { return {}; }
};
struct my_hook {
  int count = 0;
  void after_run(auto&) { ++count; }
#ifdef CONTROL
  static constexpr bool stateless = true;
#endif
};

int main() {
  my_store store;
  auto session = monitored(plain_graph(), options{restore_from{store}}, my_hook{});
  (void)session.run(target<"train">);
}
