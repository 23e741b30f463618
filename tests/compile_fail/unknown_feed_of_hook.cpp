// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a feed of a name that the graph does not take\. Mend: feed one of the names
// expect-near: my_hook.*"loss"
// expect-near: "rate"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  auto before_run(auto&) { return feed<"loss">(0.2f); }
#else
  auto before_run(auto&) { return feed<"rate">(0.2f); }
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
