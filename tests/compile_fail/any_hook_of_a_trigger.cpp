// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a slot cannot hold a hook that has a trigger of its own, a gate, saves, watches or provides values: .*Mend: look at
#include <tautline/hooks/any_hook.hpp>

#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  every_steps trigger{2};
#endif
  void after_run(auto&) {}
};

int main() {
  any_hook<> slot;
  slot.install(my_hook{});
}
