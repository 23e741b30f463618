// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a feed of a name that the graph does not take
// expect-near: the_caller_of_run.*"rat"
// expect-near: "rate"
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  for (auto const& step : session.steps(feed<"rat">(0.1f))) (void)step;
#else
  for (auto const& step : session.steps(feed<"rate">(0.1f))) (void)step;
#endif
}
