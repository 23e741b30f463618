// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s trigger needs a clock, and the session has none, so it would never fire\. Mend: give one: monitored\(graph, options\{with_clock\{clock\}\}, hooks\.\.\.\)
// expect-near: my_hook.*every_seconds
#include "common.hpp"

struct my_hook {
  every_seconds trigger{5};
  void after_run(auto& ctx) { (void)ctx.due(); }
};

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), my_hook{});
#else
  auto session = monitored(toy_graph(), options{with_clock{toy_clock{}}}, my_hook{});
#endif
  (void)session.run_to_completion(target<"train">);
}
