// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook lists a field of a type that cannot be saved; field and type stand behind the hook, beside this message\. Mend: list numbers
// expect-near: my_hook.*"words".*const char|my_hook.*"words".*char const
#include "common.hpp"

struct my_store {
  restored restore(training_state const&) { return {}; }
};
struct part {
  int count = 0;
  char const* words = "";
#ifndef CONTROL
  auto state() { return fields{field<"count">(count), field<"words">(words)}; }
#else
  auto state() { return fields{field<"count">(count)}; }
#endif
};
struct my_hook {
  part inner;
  void after_run(auto&) { ++inner.count; }
  auto state() { return fields{field<"inner">(inner)}; }
};

int main() {
  auto graph = static_graph{}.variable<"w">(0.0f).update<"train", "w">([](float& w) { w += 1; });
  my_store store;
  auto session = monitored(std::move(graph), options{restore_from{store}}, my_hook{});
  (void)session.run(target<"train">);
}
