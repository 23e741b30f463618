// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: off_thread cannot call this hook.s after_run with a recorded_run and recorded values\. Mend: write
#include <tautline/hooks/off_thread.hpp>

#include "common.hpp"

struct my_hook {
  auto before_run(auto&) const { return fetch<"loss">; }
#ifndef CONTROL
  void after_run(run_context_base&, auto const&) {}
#else
  void after_run(auto&, auto const&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), off_thread{my_hook{}});
  (void)session.run(target<"train">);
}
