// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the hook inside has no callback, so it would never act\. Mend: give it one of begin
#include <tautline/hooks/on_rank_zero.hpp>

#include "common.hpp"

struct my_hook {
#ifdef CONTROL
  void after_run(auto&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), on_rank_zero{0, my_hook{}});
  (void)session.run(target<"train">);
}
