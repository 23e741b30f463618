// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: triggered holds no hook with a gate: it would look at some runs and let the others pass\. Mend: give the hook a condition
#include <tautline/hooks/triggered.hpp>

#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void gate(auto& ctx) { ctx.veto(); }
#endif
  void after_run(auto&) {}
};

int main() {
  auto session = monitored(toy_graph(), triggered{my_hook{}, every_steps{2}});
  (void)session.run(target<"train">);
}
