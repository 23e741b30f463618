// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a run takes fetch<"name">, feed<"name">\(value\), target<"name">, run_args or ask_if\(condition, items\.\.\.\), and nothing else\. Mend:
// expect-near: feeder<.*"rate"
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  auto done = session.run_to_completion(target<"train">, feed<"rate">);
#else
  auto done = session.run_to_completion(target<"train">, feed<"rate">(0.1f));
#endif
  return done ? 0 : 1;
}
