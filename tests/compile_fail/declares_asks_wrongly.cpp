// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s `asks` is no list of fetches\. Mend:
// expect-near: my_hook.*"asks"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  using asks = names<"loss">;
  void close() {}
#else
  using asks = fetches<"loss">;
  void close() {}
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
