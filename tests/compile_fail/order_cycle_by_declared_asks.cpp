// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: these hooks form a cycle: each has to come before the next, and the last before the first\. Mend: remove one relation
// expect-near: order_cycle.*my_provider.*my_consumer|order_cycle.*my_consumer.*my_provider
#include "common.hpp"

struct my_provider {
  using provides = tautline::provides<"score", float>;
#ifndef CONTROL
  using runs_after = hooks<struct my_consumer>;
#endif
  void after_run(auto& ctx) { ctx.template publish<"score">(1.0f); }
};
struct my_consumer {
  using asks = fetches<"score">;
  auto before_run(auto&) { return fetch<"score">; }
  void after_run(auto&, auto&) {}
};

int main() {
  auto session = monitored(toy_graph(), my_provider{}, my_consumer{});
  (void)session.run_to_completion(target<"train">);
}
