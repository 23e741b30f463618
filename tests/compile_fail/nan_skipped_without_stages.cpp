// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook can do its work in a gate only, before a run changes anything, and this kind of session cannot stage a run\. Mend: let the hook fail or stop instead
// expect-near: nan_checker.*skip_at_most
#include <tautline/hooks/nan_checker.hpp>

#include "common.hpp"

int main() {
  auto const loss = [] { return named_values{value<"loss">(1.0f)}; };
#ifndef CONTROL
  auto session = monitored(step_function(loss), nan_checker<"loss">::with(skip_at_most{2}));
#else
  auto session = monitored(step_function(loss), nan_checker<"loss">{on_nan::stop});
#endif
  (void)session.run(fetch<"loss">);
}
