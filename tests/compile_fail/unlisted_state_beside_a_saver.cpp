// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this session saves or restores checkpoints, and this hook does not say what of it must be saved\. Mend: give it `auto state\(\)
// expect-near: my_hook
#include "common.hpp"

auto plain_graph() {
  return static_graph{}.variable<"w">(0.0f).update<"train", "w">([](float& w) { w += 1; });
}

struct my_saver {
  using category = saver;
  static constexpr bool stateless = true;
  bool wants_save() { return true; }
  void save(training_state const&, life&) {}
  void close() {}
};
struct my_hook {
  int count = 0;
  void after_run(auto&) { ++count; }
#ifdef CONTROL
  auto state() { return fields{field<"count">(count)}; }
#endif
};

int main() {
  auto session = monitored(plain_graph(), my_hook{}, my_saver{});
  (void)session.run(target<"train">);
}
