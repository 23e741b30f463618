// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this session is in real-time mode, and this hook does not promise to neither allocate nor wait nor throw in a step; beside this message stands what lacks\. Mend: make what is called in a step noexcept
// expect-near: my_hook.*"noexcept after_run or gate"
#include "common.hpp"

struct my_hook {
  static constexpr bool real_time = true;
  auto before_run(auto& ctx) noexcept { return ask_if(ctx.step() > 1, fetch<"loss">); }
#ifndef CONTROL
  void after_run(auto&, auto&) {}
#else
  void after_run(auto&, auto&) noexcept {}
#endif
  void after_run(auto&) noexcept {}
};

int main() {
  auto session = monitored(toy_graph(), options{real_time{}}, my_hook{});
  (void)session.run(target<"train">);
}
