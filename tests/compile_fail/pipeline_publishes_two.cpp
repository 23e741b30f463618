// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the values that reach publish cannot be converted
#include <tautline/hooks/pipeline.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), observe<"loss", "w">() | publish<"half">());
#else
  auto session = monitored(toy_graph(), observe<"loss", "w">() | transform([](float a, float b) { return a + b; }) | publish<"half">());
#endif
  (void)session.run(target<"train">);
}
