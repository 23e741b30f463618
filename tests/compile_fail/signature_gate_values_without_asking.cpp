// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s gate cannot be called as a callback.* and ask for the values in before_run
// expect-near: my_hook
// expect-near: "gate"
#include "common.hpp"

struct my_hook {
#ifdef CONTROL
  auto before_run(auto&) { return fetch<"loss">; }
#endif
  void gate(auto& ctx, auto&) { ctx.veto(); }
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run(target<"train">);
}
