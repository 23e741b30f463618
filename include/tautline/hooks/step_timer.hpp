// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

#include <tautline/hooks/basic_step_timer.hpp>
#include <tautline/hooks/logging.hpp>

TAUTLINE_BEGIN

/// Writes what a step timer has found: a table for people, and scalars.
class step_times_table {
 public:
  explicit step_times_table(logging how) : writer_(std::move(how)) {}
  void begin(life& at) { writer_.begin(at); }

  void operator()(step_number step, step_times const& found) const {
    writer_.scalar("step_time/p50", found.step_seconds(0.5), step);
    writer_.scalar("step_time/p99", found.step_seconds(0.99), step);
    writer_.scalar("step_time/p99.9", found.step_seconds(0.999), step);
    writer_.scalar("step_time/max", found.seconds(static_cast<double>(found.steps.max())), step);
    writer_.scalar("step_time/jitter_p99", found.jitter_seconds(0.99), step);
    writer_.scalar("step_time/misses", static_cast<double>(found.misses), step);

    writer_.say_line(fmt::format("step times at step {}: {} steps", step, found.steps.count()));
    writer_.say_line(fmt::format("{:10}{:>12}{:>12}{:>12}{:>12}{:>12}", "", "mean", "p50", "p99", "p99.9", "max"));
    writer_.say_line(quantiles("step", found, found.steps));
    writer_.say_line(quantiles("jitter", found, found.jitter));
    if (found.misses > 0) writer_.say_line(fmt::format("{} steps missed the deadline, {} in a row", found.misses, found.misses_in_a_row));
    for (int place = 0; place < found.places(); ++place) {
      time_spent const& each = found.at_place(place);
      if (each.calls > 0) writer_.say_line(spent(*each.name != 0 ? each.name : "the session", found, each));
    }
    for (int where = 0; where < step_times::phases; ++where) {
      time_spent const& each = found.in(static_cast<callback>(where));
      if (each.calls > 0) writer_.say_line(spent(each.name, found, each));
    }
  }

 private:
  /// "1.234 ms", with a unit that gives one to three digits before the point.
  static std::string length(double seconds) {
    if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
    if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
    return fmt::format("{:.3f} us", seconds * 1e6);
  }
  static std::string quantiles(char const* name, step_times const& found, time_histogram const& of) {
    return fmt::format("{:10}{:>12}{:>12}{:>12}{:>12}{:>12}", name, length(found.seconds(of.mean())), length(found.seconds(of.quantile(0.5))),
                       length(found.seconds(of.quantile(0.99))), length(found.seconds(of.quantile(0.999))),
                       length(found.seconds(static_cast<double>(of.max()))));
  }
  static std::string spent(char const* name, step_times const& found, time_spent const& each) {
    return fmt::format("  {:40}{:>12} in {} calls, longest {}", name, length(found.seconds(static_cast<double>(each.ticks))), each.calls,
                       length(found.seconds(static_cast<double>(each.longest))));
  }

  detail::log_writer writer_;
};

/// Measures how long steps take: a histogram of their lengths and of their jitter, the time spent in each hook and in
/// each kind of callback, and the steps that miss a deadline. Reports in `end`.
///
///     auto session = monitored(graph, step_timer{});                                  // the steady clock
///     auto session = monitored(graph, step_timer{{.deadline = 0.001}, {.writer = events}});
///     session.hook<step_timer<>>().times().step_seconds(0.999)
///
/// @param how deadline, and whether hooks are measured one by one
/// @param report where the table goes, and the summary writer: see `logging`
/// @tparam Clock any `clock_type`; the steady clock by default, `session_clock` for that of the session
/// **Order** outermost: a step is from the first `before_run` to the last `after_run`, saves not included. A run that
/// fails is no step. Jitter is the difference between the lengths of two steps in a row; the first step of a session
/// has none.
/// **Errors** `invalid_argument`: a negative deadline, no clock, a report that can go nowhere.
/// **Cost** two readings of the clock a step and two a callback (`by_hook = false`: two a step), 5.2 KiB, no allocation in a
/// step: fit for real time. `basic_step_timer` does without heap and text.
template <class Clock = steady_clock_ticks>
class step_timer : public basic_step_timer<Clock, step_times_table> {
 public:
  explicit step_timer(step_timer_options how = {}, logging report = {}, Clock clock = {})
      : basic_step_timer<Clock, step_times_table>(how, std::move(clock), step_times_table(std::move(report))) {}
};

TAUTLINE_END
