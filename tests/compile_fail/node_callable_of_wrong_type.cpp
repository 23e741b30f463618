// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this node.s callable cannot be called with the node.s inputs.*Mend: give it one parameter for each input
// expect-near: "train".*lambda.*float
#include "common.hpp"

int main() {
  auto graph = static_graph{}
      .variable<"w">(0.0f)
      .update<"reset", "w">([](float& w) { w = 0; })
#ifndef CONTROL
      .update<"train", "w">([](int& w) { w = 1; })
#else
      .update<"train", "w">([](float& w) { w = 1; })
#endif
      .op<"last", "w">([](float w) { return w; });
  auto session = monitored(std::move(graph), good_hook{});
  (void)session.run_steps(3, fetch<"last">);
}
