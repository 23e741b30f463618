// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: early stopping looks at a number\. Mend: name a scalar
#include <tautline/hooks/early_stopping.hpp>

#include "common.hpp"

int main() {
  struct pair {
    float x, y;
  };
  auto graph = toy_graph().op<"pair", "x">([](float x) { return pair{x, x}; });
#ifndef CONTROL
  auto session = monitored(graph, stop_if_no_decrease<"pair">{{.patience = 3}});
#else
  auto session = monitored(graph, stop_if_no_decrease<"loss">{{.patience = 3}});
#endif
  (void)session.run(target<"train">);
}
