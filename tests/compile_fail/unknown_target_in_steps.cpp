// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a target that the graph does not have, so nothing would run
// expect-near: the_caller_of_run.*"trian"
// expect-near: "w".*"loss".*"train"
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  auto steps = session.steps(target<"trian">);
#else
  auto steps = session.steps(target<"train">);
#endif
  for (auto const& step : steps) (void)step;
}
