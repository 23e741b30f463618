// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this session is in real-time mode, and this hook does not promise to neither allocate nor wait nor throw in a step; beside this message stands what lacks\. Mend: make what is called in a step noexcept
// expect-near: my_hook.*"a member real_time = true"
#include "common.hpp"

struct my_hook {
#ifdef CONTROL
  static constexpr bool real_time = true;
#endif
  void on_enter(moment const&) noexcept {}
  void on_leave(moment const&) noexcept {}
};

int main() {
  auto session = monitored(toy_graph(), options{real_time{}}, my_hook{});
  (void)session.run(target<"train">);
}
