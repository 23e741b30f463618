// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: begin returns something that is no graph\. Mend: take the graph by value and return the extended one
// expect-near: my_hook.*bool
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  bool begin(auto&) { return true; }
#else
  auto begin(auto graph) { return graph; }
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
