// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: these hooks form a cycle: each has to come before the next, and the last before the first\. Mend: remove one relation
// expect-near: order_cycle.*first_hook.*second_hook|order_cycle.*second_hook.*first_hook
#include "common.hpp"

struct second_hook;
struct first_hook {
  using runs_before = hooks<second_hook>;
  void close() {}
};
struct second_hook {
#ifndef CONTROL
  using runs_before = hooks<first_hook>;
#endif
  void close() {}
};

int main() {
  auto session = monitored(toy_graph(), good_hook{}, first_hook{}, second_hook{});
  (void)session.run_to_completion(target<"train">);
}
