// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a hook is an object of a class
// expect-near: my_hook
#include "common.hpp"

#ifndef CONTROL
union my_hook {
#else
struct my_hook {
#endif
  int count;
  void close() {}
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
