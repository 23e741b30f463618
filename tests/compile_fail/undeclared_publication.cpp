// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: no hook of this session provides this name\. Mend: add using provides = tautline::provides<"name", type>
// expect-near: "scor".*"score"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  void after_run(auto& ctx) { ctx.template publish<"scor">(1.0f); }
#else
  void after_run(auto& ctx) { ctx.template publish<"score">(1.0f); }
#endif
  using provides = tautline::provides<"score", float>;
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
