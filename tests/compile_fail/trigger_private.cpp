// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s member `trigger` is no trigger that the session can see.*Mend: make it a public data member
// expect-near: my_hook
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void after_run(auto& ctx) { (void)ctx.due(); }

 private:
  every_steps trigger{100};
#else
  void after_run(auto& ctx) { (void)ctx.due(); }
  every_steps trigger{100};
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
