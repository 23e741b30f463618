// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the callable of this pipeline stage cannot be called .* called as const
#include <tautline/hooks/pipeline.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), observe<"loss">() | call([n = 0](float) mutable { ++n; }));
#else
  auto session = monitored(toy_graph(), observe<"loss">() | call([n = 0](float) { return n; }));
#endif
  (void)session.run(target<"train">);
}
