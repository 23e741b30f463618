// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a fetch of a name that the graph does not have, so it could never get a value\. Mend: use one of the names
// expect-near: the_caller_of_run.*"los"
// expect-near: "w".*"rate".*"x".*"loss"
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  for (auto const& step : session.steps(target<"train">, fetch<"los">)) {
    float const loss = step[fetch<"los">];
    if (loss < 0.1f && step.step() > 3) break;
  }
#else
  for (auto const& step : session.steps(target<"train">, fetch<"loss">)) {
    float const loss = step[fetch<"loss">];
    if (loss < 0.1f && step.step() > 3) break;
  }
#endif
}
