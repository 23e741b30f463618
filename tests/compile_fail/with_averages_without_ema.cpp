// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: with_averages finds no ema among the hooks of this session\. Mend: give it one
#include <tautline/hooks/ema.hpp>

#include "common.hpp"

int main() {
  auto graph = toy_graph();
#ifndef CONTROL
  auto session = monitored(graph, good_hook{});
  with_averages(session, [] {});
#else
  auto session = monitored(graph, good_hook{}, ema(graph));
  with_averages(session, [] {});
#endif
  (void)session.run(target<"train">);
}
