// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: run_for needs a clock, and the session has none
// expect-near: run_for_without_clock
#include "common.hpp"

struct milliseconds {
  long count;
};
struct my_clock : toy_clock {
  static long ticks(milliseconds budget) { return budget.count; }
};

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), good_hook{});
#else
  auto session = monitored(toy_graph(), options{with_clock{my_clock{}}}, good_hook{});
#endif
  auto done = session.run_for(milliseconds{5}, target<"train">);
  return done ? 0 : 1;
}
