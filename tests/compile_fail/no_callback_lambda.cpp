// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this type has no callback
// expect-near: lambda
#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), [](auto&) {});
#else
  auto session = monitored(toy_graph(), good_hook{});
#endif
  (void)session.run_to_completion(target<"train">);
}
