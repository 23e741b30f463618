// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a feed of a name that the graph does not take
// expect-near: the_caller_of_run.*"rat"
// expect-near: "rate"
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  auto done = session.run_to_completion(feed<"rat">(0.1f), target<"train">);
#else
  auto done = session.run_to_completion(feed<"rate">(0.1f), target<"train">);
#endif
  return done ? 0 : 1;
}
