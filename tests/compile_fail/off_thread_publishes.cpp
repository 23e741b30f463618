// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a hook in off_thread cannot publish: its run is long over when it sees it\. Mend: publish from a hook
#include <tautline/hooks/off_thread.hpp>

#include "common.hpp"

struct my_hook {
  void after_run(auto& ctx) {
#ifndef CONTROL
    ctx.template publish<"mean">(1.0F);
#else
    (void)ctx.step();
#endif
  }
};

int main() {
  auto session = monitored(toy_graph(), off_thread{my_hook{}});
  (void)session.run(target<"train">);
}
