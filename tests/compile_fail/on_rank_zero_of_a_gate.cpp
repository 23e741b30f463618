// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: on_rank_zero holds no hook with a gate: a veto on one rank alone .*Mend: give the hook to every rank
#include <tautline/hooks/on_rank_zero.hpp>

#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void gate(auto& ctx) { ctx.veto(); }
#endif
  void after_run(auto&) {}
};

int main() {
  auto session = monitored(toy_graph(), on_rank_zero{0, my_hook{}});
  (void)session.run(target<"train">);
}
