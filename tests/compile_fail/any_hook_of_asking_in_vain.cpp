// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook asks for values in before_run but has no after_run\(ctx, values\) to get them
#include <tautline/hooks/any_hook.hpp>

#include "common.hpp"

struct my_hook {
  auto before_run(auto&) { return fetch<"loss">; }
#ifndef CONTROL
  void after_run(auto&) {}
#else
  void after_run(auto&, auto const&) {}
#endif
};

int main() {
  any_hook<reads<"loss", float>> slot;
  slot.install(my_hook{});
}
