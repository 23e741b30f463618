// SPDX-License-Identifier: BSL-1.0
#include <tautline/hooks/early_stopping.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/hooks/stop_on_signal.hpp>
#include <tautline/hooks/stopper.hpp>

#include "list.hpp"

namespace laws_of {

law_report stop_at_step() {
  return check_laws([] { return tautline::stop_at_step{9}; });
}
law_report stopper() {
  return check_laws([] { return tautline::stopper<"loss">{{.max_steps = 40, .abs_loss_change_tol = 0.05, .max_step_below_tol = 2, .restart_counting = false}}; },
                    {.values = {{"loss", jagged}}});
}
law_report stopper_of_time() {
  return check_laws([] { return tautline::stopper{{.max_seconds = 0.6}}; },
                    {.except = {{law::resume, "the seconds are those of the process"},
                                {law::recovery, "the time of recoveries counts"},
                                {law::recovery_kept, "the time of recoveries counts"}}});
}
law_report stop_on_signal() {
  return check_laws([] { return tautline::stop_on_signal{}; });
}
law_report stop_if_no_decrease() {
  return check_laws([] { return tautline::stop_if_no_decrease<"loss">{{.patience = 3}}; }, {.values = {{"loss", jagged}}});
}
law_report stop_if_no_increase() {
  return check_laws([] { return tautline::stop_if_no_increase<"loss", every_steps>{{.max_steps = 6, .warm_up = 1}, every_steps{2}}; },
                    {.values = {{"loss", jagged}}});
}
law_report stop_if_above() {
  return check_laws([] { return tautline::stop_if_above<"loss">{{.bound = 0.42, .patience = 3, .min_steps = 3}}; },
                    {.values = {{"loss", jagged}}});
}
law_report stop_if_below() {
  return check_laws([] { return tautline::stop_if_below<"loss">{0.35}; }, {.values = {{"loss", jagged}}});
}
law_report together_stopping() {
  return check_laws(together([] { return tautline::stop_at_step{11}; },
                             [] { return tautline::stop_if_no_decrease<"loss">{{.patience = 5}}; },
                             [] { return named<"second">(tautline::stop_if_no_decrease<"loss">{{.patience = 7}}); },
                             [] { return tautline::stopper<"loss">{{.rel_loss_change_tol = 1e-3}}; }),
                    {.values = {{"loss", jagged}}});
}

}  // namespace laws_of
