// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this session saves checkpoints, and this source does not say where it stands, so a resumed training would see other data\. Mend: make its callable a class
// expect-near: "x"
#include "common.hpp"

struct my_store {
  restored restore(training_state const&) { return {}; }
};

int main() {
  auto count = [n = 0](float& x) mutable { return x = static_cast<float>(n), ++n < 10; };
#ifndef CONTROL
  auto graph = static_graph{}.source<"x">(0.0f, count).update<"train", "x">([](float) {});
#else
  auto graph = static_graph{}.source<"x">(0.0f, unsaved(count)).update<"train", "x">([](float) {});
#endif
  my_store store;
  auto session = monitored(std::move(graph), options{restore_from{store}});
  (void)session.run(target<"train">);
}
