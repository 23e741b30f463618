// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: before_run asks for values under several conditions, so after_run could not know which of them it has
#include <tautline/hooks/any_hook.hpp>

#include "common.hpp"

struct my_hook {
  auto before_run(auto& ctx) {
    bool const now = ctx.step() == 1;
#ifndef CONTROL
    return run_args{ask_if(now, fetch<"loss">), ask_if(!now, fetch<"w">)};
#else
    return ask_if(now, fetch<"loss">, fetch<"w">);
#endif
  }
  void after_run(auto&, auto const&) {}
};

int main() {
  any_hook<reads<"loss", float>, reads<"w", float>> slot;
  slot.install(my_hook{});
}
