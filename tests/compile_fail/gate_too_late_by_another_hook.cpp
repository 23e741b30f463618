// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s gate looks at a value that is computed from variables which this run has changed
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
  auto before_run(auto&) { return fetch<"after">; }
  void gate(auto& ctx, auto&) { ctx.veto(); }
};
struct trains_at_times {
  auto before_run(auto& ctx) {
#ifndef CONTROL
    return ask_if(ctx.step() % 2 == 0, target<"train">);
#else
    return ask_if(ctx.step() % 2 == 0, target<"loss">);
#endif
  }
};

int main() {
  auto session = monitored(graph_with_late_value(), trains_at_times{}, my_hook{});
  (void)session.run(fetch<"loss">);
}
