// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a slot saves what its hook lists, and this hook neither lists a state nor says that it has none\. Mend: give it state\(\)
#include <tautline/hooks/any_hook.hpp>

#include "common.hpp"

struct my_hook {
  int count = 0;
  void after_run(auto&) { ++count; }
};
struct listing : my_hook {
  auto state() { return fields{field<"count">(count)}; }
};

int main() {
  any_hook<> slot;
#ifndef CONTROL
  slot.install(my_hook{});
#else
  slot.install(listing{});
  slot.install_unsaved(my_hook{});
#endif
}
