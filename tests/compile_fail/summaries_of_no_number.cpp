// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: summary_saver writes numbers, and arrays and ranges of them\. Mend: fetch one of these
#include <tautline/hooks/summary_saver.hpp>

#include "common.hpp"

struct label {
  char letter;
};
struct numbers {
  void add_scalar(std::string_view, double, step_number) {}
};

int main() {
  auto graph = toy_graph().op<"label", "x">([](float) { return label{'a'}; });
  numbers out;
#ifndef CONTROL
  auto session = monitored(graph, summary_saver<"label">{out});
#else
  auto session = monitored(graph, summary_saver<"loss">{out});
#endif
  (void)session.run(target<"train">);
}
