// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: before_run returns something that is no request\. Mend: return fetch<"name">
// expect-near: my_hook.*const char|my_hook.*char const
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  auto before_run(auto&) { return "loss"; }
#else
  auto before_run(auto&) { return fetch<"loss">; }
#endif
  void after_run(auto&, auto&) {}
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
