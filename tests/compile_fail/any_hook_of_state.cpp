// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook lists a state, and what is in a slot is not saved\. Mend: give the hook to the session
#include <tautline/hooks/any_hook.hpp>

#include "common.hpp"

struct my_hook {
  int count = 0;
  auto state() { return fields{field<"count">(count)}; }
  void after_run(auto&) { ++count; }
};

int main() {
  any_hook<> slot;
#ifndef CONTROL
  slot.install(my_hook{});
#else
  slot.install_unsaved(my_hook{});
#endif
}
