// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/testing.hpp>

// Every hook of the library, as it is tried by the laws: a name, which is that of a function in one of the files beside this
// one, and the header in include/tautline. `tests/static/laws.py` looks whether each header with a hook is here.

// clang-format off
#define TAUTLINE_LAWS(X)                                                \
  X(stop_at_step,               "hooks/stop_at_step.hpp")               \
  X(stopper,                    "hooks/stopper.hpp")                    \
  X(stopper_of_time,            "hooks/stopper.hpp")                    \
  X(stop_on_signal,             "hooks/stop_on_signal.hpp")             \
  X(stop_if_no_decrease,        "hooks/early_stopping.hpp")             \
  X(stop_if_no_increase,        "hooks/early_stopping.hpp")             \
  X(stop_if_above,              "hooks/early_stopping.hpp")             \
  X(stop_if_below,              "hooks/early_stopping.hpp")             \
  X(nan_checker,                "hooks/nan_checker.hpp")                \
  X(nan_checker_of_array,       "hooks/nan_checker.hpp")                \
  X(nan_checker_that_skips,     "hooks/on_bad_value.hpp")               \
  X(nan_checker_that_goes_back, "hooks/on_bad_value.hpp")               \
  X(spike_checker,              "hooks/spike_checker.hpp")              \
  X(spike_checker_that_skips,   "hooks/spike_checker.hpp")              \
  X(feed_fn,                    "hooks/feed_fn.hpp")                    \
  X(feed_fn_with_state,         "hooks/feed_fn.hpp")                    \
  X(feed_fn_that_resets,        "hooks/feed_fn.hpp")                    \
  X(learning_rate_schedule,     "hooks/learning_rate_schedule.hpp")     \
  X(learning_rate_of_state,     "hooks/learning_rate_schedule.hpp")     \
  X(final_ops,                  "hooks/final_ops.hpp")                  \
  X(global_step_waiter,         "hooks/global_step_waiter.hpp")         \
  X(tensor_logger,              "hooks/tensor_logger.hpp")              \
  X(tensor_logger_of_array,     "hooks/tensor_logger.hpp")              \
  X(loss_logger,                "hooks/loss_logger.hpp")                \
  X(step_rate_logger,           "hooks/step_rate_logger.hpp")           \
  X(progress_bar,               "hooks/progress_bar.hpp")               \
  X(summary_saver,              "hooks/summary_saver.hpp")              \
  X(prometheus_metrics,         "hooks/prometheus_metrics.hpp")         \
  X(jsonl_logger,               "hooks/row_logger.hpp")                 \
  X(csv_logger,                 "hooks/row_logger.hpp")                 \
  X(timeline,                   "hooks/timeline.hpp")                   \
  X(ema,                        "hooks/ema.hpp")                        \
  X(ema_on_heap,                "hooks/ema_on_heap.hpp")                \
  X(phase_clock,                "hooks/phase_clock.hpp")                \
  X(watchdog,                   "hooks/watchdog.hpp")                   \
  X(off_thread,                 "hooks/off_thread.hpp")                 \
  X(basic_step_timer,           "hooks/basic_step_timer.hpp")           \
  X(step_timer,                 "hooks/step_timer.hpp")                 \
  X(any_hook,                   "hooks/any_hook.hpp")                   \
  X(any_hook_with_state,        "hooks/any_hook.hpp")                   \
  X(basic_evaluator,            "hooks/basic_evaluator.hpp")            \
  X(evaluator,                  "hooks/evaluator.hpp")                  \
  X(checkpoint_saver,           "hooks/checkpoint_saver.hpp")           \
  X(pipeline_that_stops,        "hooks/pipeline.hpp")                   \
  X(pipeline_that_writes,       "hooks/pipeline.hpp")                   \
  X(script_with_state,          "hooks/script.hpp")                     \
  X(triggered,                  "hooks/triggered.hpp")                  \
  X(on_rank_zero,               "hooks/on_rank_zero.hpp")               \
  X(together_averaging,         "hooks.hpp")                            \
  X(together_stopping,          "hooks.hpp")                            \
  X(together_checking,          "hooks.hpp")                            \
  X(together_logging,           "hooks.hpp")
// clang-format on

namespace laws_of {

using namespace tautline;
using namespace tautline::testing;

#define TAUTLINE_DECLARE(name, header) law_report name();
TAUTLINE_LAWS(TAUTLINE_DECLARE)
#undef TAUTLINE_DECLARE

/// A loss that falls, rises, and stands still.
inline scripted_value const jagged{0.9, 0.5, 0.6, 0.7, 0.4, 0.45, 0.46, 0.47, 0.3, 0.31, 0.32, 0.33};
inline law_exception const time_anew{law::resume_output, "the time since the last line begins anew"};

}  // namespace laws_of
