// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a node uses an input that is no value of the graph \(yet\)\. Mend: use one of the names
// expect-near: "loss".*"weight".*"w"
#include "common.hpp"

int main() {
  auto graph = static_graph{}
      .variable<"w">(0.0f)
      .update<"reset", "w">([](float& w) { w = 0; })
#ifndef CONTROL
      .op<"loss", "weight">([](float w) { return w; })
#else
      .op<"loss", "w">([](float w) { return w; })
#endif
      .op<"last", "w">([](float w) { return w; });
  auto session = monitored(std::move(graph), good_hook{});
  (void)session.run_steps(3, fetch<"last">);
}
