// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this step function can be called neither as function\(\) nor as function\(inputs\)\. Mend: give it no parameter, or one
// expect-near: lambda
#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(step_function([](int, int) { return true; }), good_hook{});
#else
  auto session = monitored(step_function([](auto&) { return true; }), good_hook{});
#endif
  (void)session.run_steps(3);
}
