// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook can do its work in a gate only, before a run changes anything, and this kind of session cannot stage a run\. Mend: let the hook fail or stop instead
// expect-near: my_hook
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  static constexpr bool needs_gate = true;
#endif
  auto before_run(auto&) { return fetch<"loss">; }
  void gate(auto& ctx, auto&) { ctx.veto(); }
};

int main() {
  auto session = monitored(step_function([] { return named_values{value<"loss">(1.0f)}; }), my_hook{});
  (void)session.run(fetch<"loss">);
}
