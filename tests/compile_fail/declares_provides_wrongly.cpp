// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s `provides` names no values\. Mend:
// expect-near: my_hook.*"provides"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  using provides = names<"score">;
  void close() {}
#else
  using provides = tautline::provides<"score", float>;
  void close() {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
