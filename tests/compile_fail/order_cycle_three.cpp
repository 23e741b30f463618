// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: these hooks form a cycle: each has to come before the next, and the last before the first\. Mend: remove one relation
// expect-near: order_cycle.*(a_hook, b_hook, c_hook|b_hook, c_hook, a_hook|c_hook, a_hook, b_hook)
#include "common.hpp"

struct b_hook;
struct c_hook;
struct a_hook {
  using runs_before = hooks<b_hook>;
  void close() {}
};
struct b_hook {
  using runs_before = hooks<c_hook>;
  void close() {}
};
struct c_hook {
#ifndef CONTROL
  using runs_before = hooks<a_hook>;
#endif
  void close() {}
};
// waits for the cycle, and is not in it
struct late_hook {
  using runs_after = hooks<a_hook, good_hook>;
  void close() {}
};

int main() {
  auto session = monitored(toy_graph(), late_hook{}, c_hook{}, a_hook{}, good_hook{}, b_hook{});
  (void)session.run_to_completion(target<"train">);
}
