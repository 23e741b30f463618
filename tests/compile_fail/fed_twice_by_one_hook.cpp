// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: two parties feed one name in the same run, so one of the values would be lost\. Mend: remove one of the feeds, or feed under conditions \(ask_if\)
// expect-near: "rate".*my_hook.*my_hook
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  auto before_run(auto&) { return run_args{feed<"rate">(0.2f), feed<"rate">(0.3f)}; }
#else
  auto before_run(auto&) { return run_args{feed<"rate">(0.2f)}; }
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
