// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: triggered holds a hook whose on_trigger cannot be called, so it would never act\. Mend: give it the parameters \(ctx, since\)
#include <tautline/hooks/triggered.hpp>

#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void on_trigger(auto&) {}
#else
  void on_trigger(auto&, since_triggered const&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), triggered{my_hook{}, every_steps{2}});
  (void)session.run(target<"train">);
}
