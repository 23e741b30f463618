// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook asks for or feeds what its slot does not declare\. Mend: declare it, with its type, as in any_hook
#include <tautline/hooks/any_hook.hpp>

#include "common.hpp"

struct my_hook {
  auto before_run(auto& ctx) { return ask_if(ctx.step() == 1, feed<"rate">(0.5F)); }
};

int main() {
#ifndef CONTROL
  any_hook<reads<"rate", float>, feeds<"rate", double>> slot;
#else
  any_hook<reads<"rate", float>, feeds<"rate", float>> slot;
#endif
  slot.install(my_hook{});
}
