// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this pipeline has a trigger already, .* Mend: join them, in parentheses
#include <tautline/hooks/pipeline.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), observe<"loss">() | every_steps{10} | at_end | request_stop("low"));
#else
  auto session = monitored(toy_graph(), observe<"loss">() | (every_steps{10} | at_end) | request_stop("low"));
#endif
  (void)session.run(target<"train">);
}
