// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the graph has a node of this name with another callable or value type\. Mend: give the new node a name of its own
// expect-near: "w".*variable_node.*op_node
#include "common.hpp"

int main() {
  auto graph = static_graph{}
      .variable<"w">(0.0f)
      .update<"reset", "w">([](float& w) { w = 0; })
#ifndef CONTROL
      .op<"w", "w">([](float w) { return w; })
#else
      .op<"twice", "w">([](float w) { return 2 * w; })
#endif
      .op<"last", "w">([](float w) { return w; });
  auto session = monitored(std::move(graph), good_hook{});
  (void)session.run_steps(3, fetch<"last">);
}
