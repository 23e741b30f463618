// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook asks for values in before_run but has no after_run
// expect-near: my_hook.*"loss"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  auto before_run(auto& ctx) { return ask_if(ctx.step() > 2, fetch<"loss">); }
  void after_run(auto&) {}
#else
  auto before_run(auto& ctx) { return ask_if(ctx.step() > 2, fetch<"loss">); }
  void after_run(auto&) {}
  void after_run(auto&, auto&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
