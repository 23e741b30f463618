// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a feed of a name that the graph does not take
// expect-near: the_caller_of_run.*"rat"
// expect-near: "rate"
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  auto result = session.run(feed<"rat">(0.1f));
#else
  auto result = session.run(feed<"rate">(0.1f));
#endif
  return result ? 0 : 1;
}
