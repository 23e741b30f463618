// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: two parties feed one name with values of different types; .*Mend: give both the type that the placeholder has
// expect-near: "rate".*feeds_low.*float.*feeds_high.*double
#include "common.hpp"

struct feeds_low {
  auto before_run(auto&) { return feed<"rate">(0.1f); }
};
struct feeds_high {
#ifndef CONTROL
  auto before_run(auto& ctx) { return ask_if(ctx.step() < 0, feed<"rate">(0.2)); }
#else
  auto before_run(auto& ctx) { return ask_if(ctx.step() < 0, feed<"rate">(0.2f)); }
#endif
};

int main() {
  auto session = monitored(toy_graph(), feeds_low{}, good_hook{}, feeds_high{});
  (void)session.run_to_completion(target<"train">);
}
