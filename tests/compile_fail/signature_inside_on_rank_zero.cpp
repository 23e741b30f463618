// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s after_run cannot be called as a callback
// expect-near: on_rank_zero<my_hook>
#include <tautline/hooks/on_rank_zero.hpp>

#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void after_run() {}
#else
  void after_run(auto&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), on_rank_zero{0, my_hook{}});
  (void)session.run(target<"train">);
}
