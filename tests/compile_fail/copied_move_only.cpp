// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a hook must be moved into the session; here it would be copied.*Mend: write std::move\(hook\), or std::ref\(hook\)
// expect-near: my_hook
#include "common.hpp"

struct my_hook {
  my_hook() = default;
  my_hook(my_hook&&) = default;
  void close() {}
};

int main() {
  my_hook outside;
#ifndef CONTROL
  auto session = monitored(toy_graph(), named<"mine">(outside));
#else
  auto session = monitored(toy_graph(), named<"mine">(std::move(outside)));
#endif
  (void)session.run_to_completion(target<"train">);
}
