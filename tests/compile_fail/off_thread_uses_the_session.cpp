// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a hook in off_thread cannot use the session in a run: another thread drives it\. Mend: fetch the values
#include <tautline/hooks/off_thread.hpp>

#include "common.hpp"

struct my_hook {
  void after_run(auto& ctx) {
#ifndef CONTROL
    ctx.session();
#else
    (void)ctx.step();
#endif
  }
};

int main() {
  auto session = monitored(toy_graph(), off_thread{my_hook{}});
  (void)session.run(target<"train">);
}
