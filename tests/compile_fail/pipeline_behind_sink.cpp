// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this stage stands behind a sink, where no value comes\. Mend: put it before the sink, or write tee\(sink\)
#include <tautline/hooks/pipeline.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), observe<"loss">() | publish<"half">() | where(below(0.1f)) | request_stop("low"));
#else
  auto session = monitored(toy_graph(), observe<"loss">() | tee(publish<"half">()) | where(below(0.1f)) | request_stop("low"));
#endif
  (void)session.run(target<"train">);
}
