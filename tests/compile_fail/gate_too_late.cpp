// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s gate looks at a value that is computed from variables which this run has changed.*\. Mend: look at a value that is computed before the update
// expect-near: my_hook.*"after"
#include "common.hpp"

auto graph_with_late_value() {
  return static_graph{}
      .variable<"w">(0.0f)
      .op<"loss", "w">([](float w) { return w * w; })
      .update<"train", "w">([](float& w) { w += 1; })
      .op<"after", "w">([](float w) { return w; });
}

struct my_hook {
#ifndef CONTROL
  auto before_run(auto&) { return fetch<"after">; }
#else
  auto before_run(auto&) { return fetch<"loss">; }
#endif
  void gate(auto& ctx, auto&) { ctx.veto(); }
};

int main() {
  auto session = monitored(graph_with_late_value(), my_hook{});
  (void)session.run(target<"train">);
}
