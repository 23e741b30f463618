// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook.s class is final.*Mend: remove `final`
// expect-near: my_hook
#include "common.hpp"

#ifndef CONTROL
struct my_hook final {
#else
struct my_hook {
#endif
  void close() {}
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
