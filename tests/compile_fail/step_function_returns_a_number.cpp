// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this step function returns something that has no names\. Mend: return named_values\{value<"name">\(\.\.\.\), \.\.\.\}
// expect-near: float
#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(step_function([] { return 0.5f; }), good_hook{});
#else
  auto session = monitored(step_function([] { return value<"loss">(0.5f); }), good_hook{});
#endif
  (void)session.run_steps(3);
}
