// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the graph has a node of this name with another callable or value type
// expect-near: "loss".*op_node.*op_node
#include "common.hpp"

struct my_hook {
  auto begin(auto graph) {
#ifndef CONTROL
    return std::move(graph).template op<"loss", "w">([](float w) { return w; });
#else
    return std::move(graph).template op<"my loss", "w">([](float w) { return w; });
#endif
  }
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
