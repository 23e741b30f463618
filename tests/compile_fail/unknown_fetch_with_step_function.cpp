// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a fetch of a name that the graph does not have, so it could never get a value\. Mend: use one of the names
// expect-near: my_hook.*"los"
// expect-near: "accuracy".*"loss"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  auto before_run(auto&) { return fetch<"los">; }
#else
  auto before_run(auto&) { return fetch<"loss">; }
#endif
  void after_run(auto&, auto&) {}
};

int main() {
  auto session = monitored(step_function([] { return named_values{value<"accuracy">(0.5f), value<"loss">(1.0f)}; }), my_hook{});
  (void)session.run_steps(3);
}
