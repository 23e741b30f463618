// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook provides a name that the graph has already.*Mend: give the hook.s value another name
// expect-near: "loss".*my_hook|my_hook.*"loss"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  using provides = tautline::provides<"loss", float>;
#else
  using provides = tautline::provides<"my loss", float>;
#endif
  void close() {}
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
