// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook may stand in a session only once, and it stands there twice\. Mend: remove one
// expect-near: my_hook
#include "common.hpp"

struct my_hook {
  static constexpr bool singleton = true;
  void close() {}
};

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), my_hook{}, good_hook{}, named<"again">(my_hook{}));
#else
  auto session = monitored(toy_graph(), my_hook{}, good_hook{}, good_hook{});
#endif
  (void)session.run_to_completion(target<"train">);
}
