// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: two parties feed one name in the same run, so one of the values would be lost\. Mend: remove one of the feeds, or feed under conditions \(ask_if\)
// expect-near: "rate".*the_caller_of_run.*my_hook
#include "common.hpp"

struct my_hook {
  auto before_run(auto&) { return feed<"rate">(0.1f); }
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
#ifndef CONTROL
  auto result = session.run(target<"train">, feed<"rate">(0.2f));
  return result ? 0 : 1;
#else
  auto result = session.run_without_hooks(target<"train">, feed<"rate">(0.2f));
  return result ? 0 : 1;
#endif
}
