// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a hook must be moved into the session; here it would be copied.*Mend: write std::move\(hook\), or std::ref\(hook\)
// expect-near: good_hook
#include "common.hpp"

int main() {
  good_hook outside, other;
#ifndef CONTROL
  auto session = monitored(toy_graph(), outside);
#else
  auto session = monitored(toy_graph(), std::ref(outside), std::move(other));
#endif
  (void)other;
  (void)session.run_to_completion(target<"train">);
}
