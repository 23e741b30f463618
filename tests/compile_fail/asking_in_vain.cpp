// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook asks for values in before_run but has no after_run\(ctx, values\) to get them\. Mend: add after_run\(ctx, values\), or do not ask
// expect-near: my_hook.*"loss"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  auto before_run(auto&) { return fetch<"loss">; }
#else
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto&, auto&) {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
