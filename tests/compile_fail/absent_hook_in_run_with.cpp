// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the session has no hook of this type\. Mend: use one of its hooks. types
// expect-near: my_hook.*good_hook
#include "common.hpp"

struct my_hook {
  void close() {}
  int count = 0;
};

int main() {
  auto session = monitored(toy_graph(), good_hook{}, named<"mine">(good_hook{}));
#ifndef CONTROL
  auto result = session.run_with<good_hook, my_hook>(target<"train">);
#else
  auto result = session.run_with<good_hook>(target<"train">);
#endif
  return result ? 0 : 1;
}
