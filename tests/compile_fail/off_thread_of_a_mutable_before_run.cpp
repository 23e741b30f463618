// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: in off_thread before_run is called while another thread may be in after_run, .*Mend: make before_run const
#include <tautline/hooks/off_thread.hpp>

#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  auto before_run(auto&) { return fetch<"loss">; }
#else
  auto before_run(auto&) const { return fetch<"loss">; }
#endif
  void after_run(auto&, auto const&) {}
};

int main() {
  auto session = monitored(toy_graph(), off_thread{my_hook{}});
  (void)session.run(target<"train">);
}
