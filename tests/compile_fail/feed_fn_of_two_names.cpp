// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: feed_fn<"name"> feeds one name\. Mend: one feed_fn for each, or feed_fn\(callable\)
#include <tautline/hooks/feed_fn.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), feed_fn<"rate", "other">([] { return 0.1f; }));
#else
  auto session = monitored(toy_graph(), feed_fn<"rate">([] { return 0.1f; }));
#endif
  (void)session.run(target<"train">);
}
