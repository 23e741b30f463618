// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a tensor has at most 8 dimensions\. Mend: see this value as one with fewer
// expect-near: int ?\[1\]|tensor_traits|view_tensor
#include "common.hpp"

auto plain_graph() {
  return static_graph{}.variable<"w">(0.0f).update<"train", "w">([](float& w) { w += 1; });
}

struct my_store {
  restored restore(training_state const&) { return {}; }
};
struct my_hook {
#ifndef CONTROL
  int deep[1][1][1][1][1][1][1][1][2] = {};
#else
  int deep[1][1][1][1][1][1][1][2] = {};
#endif
  void close() {}
  auto state() { return fields{field<"deep">(deep)}; }
};

int main() {
  my_store store;
  auto session = monitored(plain_graph(), options{restore_from{store}}, my_hook{});
  (void)session.run(target<"train">);
}
