// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook lists a field of a type that cannot be saved; field and type stand behind the hook, beside this message\. Mend: list numbers
// expect-near: my_hook.*"words".*char const|my_hook.*"words".*const char
#include "common.hpp"

auto plain_graph() {
  return static_graph{}.variable<"w">(0.0f).update<"train", "w">([](float& w) { w += 1; });
}

struct my_store {
  restored restore(training_state const&) { return {}; }
};
struct my_hook {
  int count = 0;
  char const* words = "";
  void after_run(auto&) { ++count; }
#ifndef CONTROL
  auto state() { return fields{field<"count">(count), field<"words">(words)}; }
#else
  auto state() { return fields{field<"count">(count)}; }
#endif
};

int main() {
  my_store store;
  auto session = monitored(plain_graph(), options{restore_from{store}}, my_hook{});
  (void)session.run(target<"train">);
}
