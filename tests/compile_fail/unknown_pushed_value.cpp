// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: pushed_values has no value of this name
// expect-near: los
#include <tautline/core.hpp>
#include <tautline/sessions/step_function.hpp>

#if defined(CONTROL)
#define NAME "loss"
#else
#define NAME "los"
#endif

void train() {
  auto session = tautline::monitored(tautline::pushed_values<tautline::named_value<"loss", float>>{});
  session.step([](auto& values) {
    if (values.template wants<NAME>()) values.template set<"loss">(0.5F);
  });
}
