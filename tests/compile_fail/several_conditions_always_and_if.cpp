// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: before_run asks for values under several conditions.*Mend: put all fetches under one ask_if
// expect-near: my_hook
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  auto before_run(auto& ctx) { return run_args{fetch<"loss">, ask_if(ctx.step() > 2, fetch<"w">)}; }
#else
  auto before_run(auto& ctx) { return run_args{fetch<"loss">, ask_if(ctx.step() > 2, feed<"rate">(0.2f))}; }
#endif
  void after_run(auto&, auto&) {}
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
