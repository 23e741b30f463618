// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: feed_fn takes a callable of the form make\(\) or make\(step\)
#include <tautline/hooks/feed_fn.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), feed_fn<"rate">(0.1f));
#else
  auto session = monitored(toy_graph(), feed_fn<"rate">([] { return 0.1f; }));
#endif
  (void)session.run(target<"train">);
}
