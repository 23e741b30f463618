// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a pipeline with at_end keeps the values that reach its trigger, 8 trivially copyable bytes each
#include <tautline/hooks/pipeline.hpp>

#include "common.hpp"

struct large {
  double values[4];
};

int main() {
  auto graph = static_graph{}.variable<"w">(large{}).update<"train", "w">([](large& w) { w.values[0] += 1; });
  auto first = transform([](large const& w) { return w.values[0]; });
#ifndef CONTROL
  auto session = monitored(graph, observe<"w">() | at_end | first | request_stop("end"));
#else
  auto session = monitored(graph, observe<"w">() | first | at_end | request_stop("end"));
#endif
  (void)session.run(target<"train">);
}
