// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook is too large for its slot\. Mend: declare the slot as any_hook_of
#include <tautline/hooks/any_hook.hpp>

#include "common.hpp"

struct my_hook {
  static constexpr bool stateless = true;
  char numbers[200];
  void after_run(auto&) {}
};

int main() {
#ifndef CONTROL
  any_hook<> slot;
#else
  any_hook_of<200> slot;
#endif
  slot.install(my_hook{});
}
