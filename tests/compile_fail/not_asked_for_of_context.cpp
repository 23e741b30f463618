// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this value was not asked for; .*Mend: add fetch<"name"> to what before_run returns, or to the arguments of run or steps
// expect-near: "loss"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void after_run(auto& ctx) { seen = ctx[fetch<"loss">]; }
#else
  void after_run(auto& ctx) { seen = ctx.session()[fetch<"loss">]; }
#endif
  float seen = 0;
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
