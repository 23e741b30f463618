// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this trigger is too large for any_trigger, or not trivially copyable\. Mend: use the form of the hook
#include <tautline/hooks/any_trigger.hpp>

#include "common.hpp"

struct my_hook {
  any_trigger trigger;
  void after_run(auto& ctx) { (void)ctx.due(); }
};

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), my_hook{at_steps{1, 2, 3, 4, 5, 6, 7, 8, 9}});
#else
  auto session = monitored(toy_graph(), my_hook{at_steps{1, 2, 3, 4, 5, 6, 7, 8}});
#endif
  (void)session.run(target<"train">);
}
