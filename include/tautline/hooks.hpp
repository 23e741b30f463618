// SPDX-License-Identifier: BSL-1.0
#pragma once

/// All hooks but `off_thread`, which needs a queue. Each stands in a header of its own; the loggers, the progress bar, the
/// evaluator and the step timer need fmt.

// IWYU pragma: begin_exports
#include <tautline/hooks/any_hook.hpp>
#include <tautline/hooks/any_trigger.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/early_stopping.hpp>
#include <tautline/hooks/ema.hpp>
#include <tautline/hooks/ema_on_heap.hpp>
#include <tautline/hooks/evaluator.hpp>
#include <tautline/hooks/feed_fn.hpp>
#include <tautline/hooks/final_ops.hpp>
#include <tautline/hooks/global_step_waiter.hpp>
#include <tautline/hooks/learning_rate_schedule.hpp>
#include <tautline/hooks/logging.hpp>
#include <tautline/hooks/loss_logger.hpp>
#include <tautline/hooks/model_dependent.hpp>
#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/on_rank_zero.hpp>
#include <tautline/hooks/phase_clock.hpp>
#include <tautline/hooks/pipeline.hpp>
#include <tautline/hooks/progress_bar.hpp>
#include <tautline/hooks/prometheus_metrics.hpp>
#include <tautline/hooks/row_logger.hpp>
#include <tautline/hooks/script.hpp>
#include <tautline/hooks/spike_checker.hpp>
#include <tautline/hooks/step_rate_logger.hpp>
#include <tautline/hooks/step_timer.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/hooks/stop_on_signal.hpp>
#include <tautline/hooks/stopper.hpp>
#include <tautline/hooks/summary_saver.hpp>
#include <tautline/hooks/summary_writer_add_on.hpp>
#include <tautline/hooks/tensor_logger.hpp>
#include <tautline/hooks/timeline.hpp>
#include <tautline/hooks/triggered.hpp>
#include <tautline/hooks/watchdog.hpp>
// IWYU pragma: end_exports
