// SPDX-License-Identifier: BSL-1.0
#include <tautline/hooks/loss_logger.hpp>
#include <tautline/hooks/progress_bar.hpp>
#include <tautline/hooks/step_rate_logger.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/hooks/summary_saver.hpp>
#include <tautline/hooks/tensor_logger.hpp>

#include "list.hpp"

namespace laws_of {
namespace {

/// To the lines, the scalars and by the clock of `out`.
logging to(output& out) { return {.log = out.sink(), .writer = out, .clock = out.clock()}; }

}  // namespace

law_report tensor_logger() {
  return check_laws([](output& out) { return tautline::tensor_logger<"loss", "accuracy">{every_steps{.period = 3, .also_first = true} | at_end, to(out)}; },
                    {.except = {time_anew}});
}
law_report tensor_logger_of_array() {
  return check_laws([](output& out) { return tautline::tensor_logger<"w", "loss">{every_steps{5}, {.log = false, .writer = out}}; });
}
law_report loss_logger() {
  return check_laws([](output& out) { return tautline::loss_logger{every_seconds{0.25}, to(out)}; },
                    {.except = {{law::resume_output, "the seconds of its trigger begin anew"}}});
}
law_report step_rate_logger() {
  return check_laws([](output& out) { return tautline::step_rate_logger{every_steps{4} | at_end, to(out)}; });
}
law_report progress_bar() {
  return check_laws(
      [](output& out) {
        return tautline::progress_bar<"loss">{12, {.interval = 0.2, .terminal = terminal::yes, .clock = out.clock(), .output = out.sink()}};
      },
      {.except = {{law::resume_output, "a bar is drawn for each process"}}});
}
law_report summary_saver() {
  return check_laws([](output& out) { return tautline::summary_saver<"loss", "w">{out, every_steps{3} | at_end}; });
}
law_report together_logging() {
  return check_laws(together([](output& out) { return tautline::tensor_logger<"loss">{every_steps{3}, {.log = false, .writer = out}}; },
                             [](output& out) { return tautline::summary_saver<"w">{out, every_steps{2}}; },
                             [](output& out) { return tautline::step_rate_logger{every_steps{4}, {.log = false, .writer = out, .clock = out.clock()}}; },
                             [] { return tautline::stop_at_step{10}; }));
}

}  // namespace laws_of
