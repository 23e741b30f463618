// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this trigger is too large for any_trigger, or not trivially copyable\. Mend: use the form of the hook
#include <tautline/hooks/any_trigger.hpp>

#include "common.hpp"

template <int Count>
constexpr auto many() {
  if constexpr (Count == 1) {
    return once;
  } else {
    return many<Count / 2>() | many<Count - Count / 2>();
  }
}
struct my_hook {
  any_trigger trigger;
  void after_run(auto& ctx) { (void)ctx.due(); }
};

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), my_hook{many<17>()});
#else
  auto session = monitored(toy_graph(), my_hook{many<16>()});
#endif
  (void)session.run(target<"train">);
}
