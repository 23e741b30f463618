// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: these joined triggers have more than 64 flags to remember\. Mend: join fewer
// expect-near: joined_trigger
#include "common.hpp"

template <int Count>
constexpr auto many() {
  if constexpr (Count == 1) {
    return once;
  } else {
    return many<Count / 2>() | many<Count - Count / 2>();
  }
}
template <class Trigger>
struct my_hook {
  Trigger trigger;
  void after_run(auto& ctx) { (void)ctx.due(); }
};

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), my_hook{many<65>()});
#else
  auto session = monitored(toy_graph(), my_hook{many<64>()});
#endif
  (void)session.run(target<"train">);
}
