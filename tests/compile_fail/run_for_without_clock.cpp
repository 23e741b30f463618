// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: run_for needs a clock, and the session has none\. Mend: give one: monitored\(graph, options\{with_clock\{clock\}\}, hooks\.\.\.\)
// expect-near: run_for_without_clock
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  auto done = session.run_for(1000, target<"train">);
#else
  auto done = session.run_to_completion(target<"train">);
#endif
  return done ? 0 : 1;
}
