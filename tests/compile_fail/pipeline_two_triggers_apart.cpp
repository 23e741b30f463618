// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this pipeline has a trigger already
#include <tautline/hooks/pipeline.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), observe<"loss">() | once | where(below(0.1f)) | every_steps{10} | request_stop("low"));
#else
  auto session = monitored(toy_graph(), observe<"loss">() | where(below(0.1f)) | every_steps{10} | request_stop("low"));
#endif
  (void)session.run(target<"train">);
}
