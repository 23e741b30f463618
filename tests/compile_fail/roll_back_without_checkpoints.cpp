// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook goes back to the latest checkpoint, and this session has none\. Mend: give it options\{restore_from\{store\}\}
// expect-near: my_hook
#include "common.hpp"

struct my_store {
  restored restore(training_state const&) { return {}; }
};
struct my_hook {
  static constexpr bool needs_restorer = true;
  static constexpr bool stateless = true;
  void gate(auto& ctx) {
    if constexpr (std::remove_cvref_t<decltype(ctx)>::has_restorer) ctx.roll_back("a spike");
  }
};

auto plain_graph() {
  return static_graph{}.variable<"w">(0.0f).update<"train", "w">([](float& w) { w += 1; });
}

int main() {
#ifndef CONTROL
  auto session = monitored(plain_graph(), my_hook{});
#else
  my_store store;
  auto session = monitored(plain_graph(), options{restore_from{store}}, my_hook{});
#endif
  (void)session.run(target<"train">);
}
