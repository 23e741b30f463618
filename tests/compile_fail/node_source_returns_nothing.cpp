// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a source is a callable `bool next\(value&\)`.*Mend: return bool, and take the value by reference
// expect-near: "x".*float.*lambda
#include "common.hpp"

int main() {
  auto graph = static_graph{}
      .variable<"w">(0.0f)
      .update<"reset", "w">([](float& w) { w = 0; })
#ifndef CONTROL
      .source<"x">(0.0f, [](float& x) { x = 1; })
#else
      .source<"x">(0.0f, [](float& x) { return x = 1, true; })
#endif
      .op<"last", "w">([](float w) { return w; });
  auto session = monitored(std::move(graph), good_hook{});
  (void)session.run_steps(3, fetch<"last">);
}
