// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this value was not asked for; .*Mend: add fetch<"name"> to what before_run returns, or to the arguments of run or steps
// expect-near: "w".*"loss"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void after_run(auto& ctx, auto& values) {
    if (values[fetch<"w">] < 4) ctx.request_stop("small");
  }
#else
  void after_run(auto& ctx, auto& values) {
    if (values[fetch<"loss">] < 4) ctx.request_stop("small");
  }
#endif
  auto before_run(auto&) { return fetch<"loss">; }
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
