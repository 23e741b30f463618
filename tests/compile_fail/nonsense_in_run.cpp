// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a run takes fetch<"name">, feed<"name">\(value\), target<"name">, run_args or ask_if\(condition, items\.\.\.\), and nothing else\. Mend:
// expect-near: no_request_argument<.*char|no_request_argument.*Argument = char
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  auto result = session.run("train");
#else
  auto result = session.run(target<"train">);
#endif
  return result ? 0 : 1;
}
