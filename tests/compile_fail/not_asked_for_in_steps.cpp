// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this value was not asked for; .*Mend: add fetch<"name"> to what before_run returns, or to the arguments of run or steps
// expect-near: "w".*"loss"
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  for (auto const& step : session.steps(target<"train">, fetch<"loss">)) {
    if (step[fetch<"w">] > 0.5f) break;
  }
#else
  for (auto const& step : session.steps(target<"train">, fetch<"loss">)) {
    if (step[fetch<"loss">] > 0.5f) break;
  }
#endif
}
