// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the callable of this pipeline stage cannot be called with the values that reach it
#include <tautline/hooks/pipeline.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), observe<"loss", "w">() | where([](float loss) { return loss < 1; }) | request_stop("low"));
#else
  auto session = monitored(toy_graph(), observe<"loss", "w">() | where([](float loss, float) { return loss < 1; }) | request_stop("low"));
#endif
  (void)session.run(target<"train">);
}
