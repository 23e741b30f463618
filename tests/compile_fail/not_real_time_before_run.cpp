// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this session is in real-time mode, and this hook does not promise to neither allocate nor wait nor throw in a step; beside this message stands what lacks\. Mend: make what is called in a step noexcept
// expect-near: my_hook.*"noexcept before_run"
#include "common.hpp"

struct my_hook {
  static constexpr bool real_time = true;
#ifndef CONTROL
  auto before_run(auto&) { return fetch<"loss">; }
#else
  auto before_run(auto&) noexcept { return fetch<"loss">; }
#endif
  void after_run(auto&, auto&) noexcept {}
};

int main() {
  auto session = monitored(toy_graph(), options{real_time{}}, my_hook{});
  (void)session.run(target<"train">);
}
