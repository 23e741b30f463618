// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a hook is an object of a class with at least one callback, and this argument is none\. Mend:
// expect-near: no_hook_class.*int
#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), 1000);
#else
  auto session = monitored(toy_graph(), good_hook{});
#endif
  (void)session.run_to_completion(target<"train">);
}
