// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: triggered holds a hook that has nothing to be triggered, so it would never act\. Mend: give the hook on_trigger
#include <tautline/hooks/triggered.hpp>

#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void on_triger(auto&, since_triggered const&) {}
#else
  void on_trigger(auto&, since_triggered const&) {}
#endif
  void close() {}
};

int main() {
  auto session = monitored(toy_graph(), triggered{my_hook{}, every_steps{2}});
  (void)session.run(target<"train">);
}
