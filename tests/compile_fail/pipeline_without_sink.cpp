// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this pipeline ends in no sink, so nothing would come of its values\. Mend: end it in request_stop
#include <tautline/hooks/pipeline.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), observe<"loss">() | where(below(0.1f)));
#else
  auto session = monitored(toy_graph(), observe<"loss">() | where(below(0.1f)) | request_stop("low"));
#endif
  (void)session.run(target<"train">);
}
