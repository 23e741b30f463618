// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <utility>

#include <tautline/hooks/logging.hpp>

TAUTLINE_BEGIN

/// Logs how many steps a second are made: a line for people, and a number to a summary writer.
///
///     auto session = monitored(graph, step_rate_logger{every_steps{100}});
///
///     steps/sec: 8123.45
///
/// @param given any trigger; every 10 steps by default
/// @param how sink, summary writer and clock: see `logging` (the format gets the rate as its values)
/// @param tag the name of the rate, of static life
/// **Order** when due, after the run: the steps since the last line, or since the session was made. After a recovery it
/// starts afresh from the restored step. With `at_end` the remaining steps are told in `end`.
/// **Errors** as those of `tensor_logger`. No time passed since the last line, by the clock: no line; the next one covers
/// both spans.
/// **Cost** nothing in the runs that are not due; a line is formatted on the heap.
/// **Source** the step rate loggers of TensorFlow for Scala and tf.train: these are silent the first time, divide by zero
/// where no time has passed, and divide net steps by gross time after a recovery.
template <trigger Trigger = every_steps>
class step_rate_logger {
 public:
  static constexpr bool stateless = true;

  step_rate_logger() requires std::same_as<Trigger, every_steps> : step_rate_logger(every_steps{.period = 10}) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  explicit(false) step_rate_logger(Trigger given, logging how = {}, char const* tag = "steps/sec")
      : trigger(std::move(given)), writer_(std::move(how)), tag_(tag) {}

  template <class Graph>
  void begin(Graph&, life& at) {
    writer_.begin(at);
  }
  template <class Session>
  void after_create_session(Session& session, life& at) {
    detail::check_clock(trigger, session, at);
    since_step_ = session.step();
    since_ = writer_.now();
  }
  template <class Context>
  void after_run(Context& ctx) {
    if (ctx.due()) show(ctx.step());
  }
  template <class Session>
  void end(Session&, life& at) {
    if (at.due()) show(at.step());
  }

  Trigger trigger;

 private:
  void show(step_number step) {
    double const now = writer_.now();
    if (!(now > since_)) return;
    double const rate = static_cast<double>(step - since_step_) / (now - since_);
    since_ = now;
    since_step_ = step;
    writer_.scalar(tag_, rate, step);
    writer_.say_rate(step, fmt::format("{}: {:.2f}", tag_, rate));
  }

  detail::log_writer writer_;
  char const* tag_;
  double since_ = 0;
  step_number since_step_ = 0;
};

TAUTLINE_END
