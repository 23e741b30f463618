// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a logger of rows writes scalars\. Mend: fetch a number, or a reduction of the array
#include <array>

#include <tautline/hooks/row_logger.hpp>

#include "common.hpp"

int main() {
  auto graph = toy_graph().op<"both", "x">([](float x) { return std::array<float, 2>{x, -x}; });
#ifndef CONTROL
  auto session = monitored(graph, csv_logger<"both">::with("rows.csv", every_steps{1}));
#else
  auto session = monitored(graph, csv_logger<"loss">::with("rows.csv", every_steps{1}));
#endif
  (void)session.run(target<"train">);
}
