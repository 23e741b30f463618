// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this is no stage of a pipeline\. Mend: write transform
#include <tautline/hooks/pipeline.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), observe<"loss">() | [](float) {} | request_stop("low"));
#else
  auto session = monitored(toy_graph(), observe<"loss">() | tee([](float) {}) | request_stop("low"));
#endif
  (void)session.run(target<"train">);
}
