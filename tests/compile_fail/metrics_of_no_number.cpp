// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: prometheus_metrics takes numbers\. Mend: fetch a number, or a reduction of the array
#include <array>

#include <tautline/hooks/prometheus_metrics.hpp>

#include "common.hpp"

int main() {
  auto graph = toy_graph().op<"both", "x">([](float x) { return std::array<float, 2>{x, -x}; });
#ifndef CONTROL
  auto session = monitored(graph, prometheus_metrics<"both">{"train.prom"});
#else
  auto session = monitored(graph, prometheus_metrics<"loss">{"train.prom"});
#endif
  (void)session.run(target<"train">);
}
