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
  return session.hook<my_hook>().count;
#else
  (void)session.hook<good_hook>();
#endif
}
