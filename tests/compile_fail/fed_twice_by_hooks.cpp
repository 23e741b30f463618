// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: two parties feed one name in the same run, so one of the values would be lost\. Mend: remove one of the feeds, or feed under conditions \(ask_if\)
// expect-near: "rate".*feeds_low.*feeds_high
#include "common.hpp"

struct feeds_low {
  auto before_run(auto&) { return feed<"rate">(0.1f); }
};
struct feeds_high {
#ifndef CONTROL
  auto before_run(auto&) { return run_args{target<"train">, feed<"rate">(0.2f)}; }
#else
  auto before_run(auto& ctx) { return ask_if(ctx.step() < 0, feed<"rate">(0.2f)); }
#endif
};

int main() {
  auto session = monitored(toy_graph(), feeds_low{}, good_hook{}, feeds_high{});
  (void)session.run_to_completion(target<"train">);
}
