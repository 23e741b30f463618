// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook goes back to the latest checkpoint, and this session has none\. Mend: give it options\{restore_from\{store\}\}
// expect-near: nan_checker.*roll_back_at_most
#include <tautline/hooks/nan_checker.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), nan_checker<"loss">::with(roll_back_at_most{2}));
#else
  auto session = monitored(toy_graph(), nan_checker<"loss">::with(skip_at_most{2}));
#endif
  (void)session.run(target<"train">);
}
