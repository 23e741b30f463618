// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a fetch of a name that the graph does not have
#include <tautline/hooks/pipeline.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), observe<"lost">() | request_stop("low"));
#else
  auto session = monitored(toy_graph(), observe<"loss">() | request_stop("low"));
#endif
  (void)session.run(target<"train">);
}
