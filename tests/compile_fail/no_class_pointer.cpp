// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a hook is an object of a class .*std::ref\(hook\) instead of a pointer
// expect-near: good_hook ?\*
#include "common.hpp"

int main() {
  good_hook outside;
#ifndef CONTROL
  auto session = monitored(toy_graph(), &outside);
#else
  auto session = monitored(toy_graph(), std::ref(outside));
#endif
  (void)outside;
  (void)session.run_to_completion(target<"train">);
}
