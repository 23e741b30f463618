// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s class cannot be moved.*Mend: keep the hook outside and pass std::ref\(hook\)
// expect-near: my_hook
#include "common.hpp"

struct my_hook {
  my_hook() = default;
  my_hook(my_hook const&) = delete;
  void close() {}
};

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), named<"mine">(my_hook{}));
#else
  my_hook outside;
  auto session = monitored(toy_graph(), named<"mine">(std::ref(outside)));
#endif
  (void)session.run_to_completion(target<"train">);
}
