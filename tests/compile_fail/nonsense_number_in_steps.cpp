// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a run takes fetch<"name">, feed<"name">\(value\), target<"name">, run_args or ask_if\(condition, items\.\.\.\), and nothing else\. Mend:
// expect-near: no_request_argument<int|Argument = int
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  for (auto const& step : session.steps(target<"train">, 100)) (void)step;
#else
  for (auto const& step : session.steps(target<"train">)) (void)step;
#endif
}
