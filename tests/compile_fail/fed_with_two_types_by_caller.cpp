// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: two parties feed one name with values of different types; .*Mend: give both the type that the placeholder has
// expect-near: "rate".*the_caller_of_run.*double.*my_hook.*float
#include "common.hpp"

struct my_hook {
  auto before_run(auto& ctx) { return ask_if(ctx.step() > 5, feed<"rate">(0.1f)); }
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
#ifndef CONTROL
  auto result = session.run(feed<"rate">(0.2));
#else
  auto result = session.run(ask_if(true, feed<"rate">(0.2f)));
#endif
  return result ? 0 : 1;
}
