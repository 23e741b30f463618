// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a hook is an object of a class
// expect-near: pace_of_mine
#include "common.hpp"

enum class pace_of_mine { slow };

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), good_hook{}, pace_of_mine::slow);
#else
  auto session = monitored(toy_graph(), good_hook{});
#endif
  (void)session.run_to_completion(target<"train">);
}
