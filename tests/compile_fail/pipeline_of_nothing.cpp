// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: observe needs the name of at least one value
#include <tautline/hooks/pipeline.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), observe<>() | request_stop("low"));
#else
  auto session = monitored(toy_graph(), observe<"loss">() | request_stop("low"));
#endif
  (void)session.run(target<"train">);
}
