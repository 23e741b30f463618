// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook can do its work in a gate only, before a run changes anything, and this kind of session cannot stage a run\. Mend: let the hook fail or stop instead
// expect-near: spike_checker.*roll_back_at_most
#include <tautline/hooks/spike_checker.hpp>

#include "common.hpp"

struct my_store {
  restored restore(training_state const&) { return {}; }
};

int main() {
  auto const loss = [] { return named_values{value<"loss">(1.0f)}; };
  my_store store;
#ifndef CONTROL
  auto session = monitored(step_function(unsaved{loss}), options{restore_from{store}}, spike_checker<"loss">::with(roll_back_at_most{2}));
#else
  auto session = monitored(step_function(unsaved{loss}), options{restore_from{store}}, spike_checker<"loss">{});
#endif
  (void)session.run(fetch<"loss">);
}
