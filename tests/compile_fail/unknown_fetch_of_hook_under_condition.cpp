// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a fetch of a name that the graph does not have, so it could never get a value\. Mend: use one of the names
// expect-near: my_hook.*"los"
// expect-near: "w".*"rate".*"x".*"loss"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  auto before_run(auto& ctx) { return ask_if(ctx.step() > 3, fetch<"w">, fetch<"los">); }
#else
  auto before_run(auto& ctx) { return ask_if(ctx.step() > 3, fetch<"w">, fetch<"loss">); }
#endif
  void after_run(auto&, auto&) {}
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
