// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the callable of feed_fn without a name returns no request
#include <tautline/hooks/feed_fn.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), feed_fn([] { return 0.1f; }));
#else
  auto session = monitored(toy_graph(), feed_fn([] { return feed<"rate">(0.1f); }));
#endif
  (void)session.run(target<"train">);
}
