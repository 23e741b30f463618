// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a logging hook shows numbers, and arrays and ranges of them\. Mend: fetch one of these
#include <tautline/hooks/tensor_logger.hpp>

#include "common.hpp"

struct label {
  char letter;
};

int main() {
  auto graph = toy_graph().op<"label", "x">([](float) { return label{'a'}; });
#ifndef CONTROL
  auto session = monitored(graph, tensor_logger<"label">{every_steps{1}});
#else
  auto session = monitored(graph, tensor_logger<"loss">{every_steps{1}});
#endif
  (void)session.run(target<"train">);
}
