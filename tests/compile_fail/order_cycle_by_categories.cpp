// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: these hooks form a cycle: each has to come before the next, and the last before the first\. Mend: remove one relation
// expect-near: order_cycle.*my_check.*my_saver|order_cycle.*my_saver.*my_check
#include "common.hpp"

struct my_check {
  using category = check;
#ifndef CONTROL
  using runs_after = hooks<saver>;
#endif
  void close() {}
};
struct my_saver {
  using category = saver;
  void close() {}
};

int main() {
  auto session = monitored(toy_graph(), my_check{}, my_saver{});
  (void)session.run_to_completion(target<"train">);
}
