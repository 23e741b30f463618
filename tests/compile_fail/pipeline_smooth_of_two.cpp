// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: smooth, delta and window take one number
#include <tautline/hooks/pipeline.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), observe<"loss", "w">() | smooth(0.9f) | request_stop("low"));
#else
  auto session = monitored(toy_graph(), observe<"loss", "w">() | transform([](float a, float b) { return a + b; }) | smooth(0.9f) | request_stop("low"));
#endif
  (void)session.run(target<"train">);
}
