// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: two hooks provide one name, so nobody could tell whose value is meant\. Mend: remove one of the two hooks, or give its value another name
// expect-near: "score".*first_hook.*second_hook
#include "common.hpp"

struct first_hook {
  using provides = tautline::provides<"score", float>;
  void after_run(auto& ctx) { ctx.template publish<"score">(1.0f); }
};
struct second_hook {
#ifndef CONTROL
  using provides = provides_all<tautline::provides<"rank", int>, tautline::provides<"score", float>>;
#else
  using provides = provides_all<tautline::provides<"rank", int>, tautline::provides<"second score", float>>;
#endif
  void after_run(auto& ctx) { ctx.template publish<"rank">(1); }
};

int main() {
  auto session = monitored(toy_graph(), first_hook{}, second_hook{});
  (void)session.run_to_completion(target<"train">);
}
