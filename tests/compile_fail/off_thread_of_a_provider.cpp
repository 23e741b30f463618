// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: off_thread cannot hold a hook that has a gate, saves, watches or provides values: .*Mend: give the hook to the session
#include <tautline/hooks/off_thread.hpp>

#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  using provides = tautline::provides<"mean", float>;
#endif
  void after_run(auto&) {}
};

int main() {
  auto session = monitored(toy_graph(), off_thread{my_hook{}});
  (void)session.run(target<"train">);
}
