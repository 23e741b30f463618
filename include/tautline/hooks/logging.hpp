// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <tautline/adapt/chrono.hpp>
#include <tautline/core/hook.hpp>
#include <tautline/hooks/any_trigger.hpp>
#include <tautline/hooks/detail/check_clock.hpp>
#include <tautline/io/any_summary_writer.hpp>
#include <tautline/io/log_sink.hpp>

TAUTLINE_BEGIN

/// A clock in seconds since it was made: any `clock_type`; the steady clock by default. For hooks that measure time
/// where the session need not have a clock. **Cost** an indirect call a reading.
class any_clock {
 public:
  any_clock() : any_clock(steady_clock_ticks{}) {}
  template <class Clock>
    requires(!std::same_as<std::remove_cvref_t<Clock>, any_clock> && clock_type<std::remove_cvref_t<Clock>>)
  // NOLINTNEXTLINE(google-explicit-constructor): `.clock = my_clock` is the spelling
  any_clock(Clock&& clock)
      : call_([clock = std::remove_cvref_t<Clock>(std::forward<Clock>(clock)), start = std::uint64_t{0},
               started = false]() mutable {
          auto const now = static_cast<std::uint64_t>(clock.now());
          if (!started) start = now, started = true;
          return static_cast<double>(now - start) / static_cast<double>(clock.ticks_per_second());
        }) {
    (void)call_();
  }
  /// Seconds.
  [[nodiscard]] double operator()() const { return call_(); }

 private:
  std::function<double()> call_;
};

/// What a logging hook writes, made of its parts.
struct log_moment {
  double elapsed;           ///< seconds since this hook's last line; NaN in the first
  step_number step;         ///< the step that the values belong to
  std::string_view values;  ///< the values with their names: "loss = 0.25, accuracy = 0.91"
};

/// How a logging hook speaks: `tensor_logger<"loss">{every_steps{100}, {.log = sink, .writer = events}}`.
struct logging {
  log_sink log{};               ///< lines for people; `false` silences; by default the standard error
  any_summary_writer writer{};  ///< numbers for programs; none by default
  any_clock clock{};            ///< for the time between lines; the steady clock by default
  std::function<std::string(log_moment const&)> format{};  ///< the whole line; by default "(    1.234 s) Step:    100, …"
};

namespace detail {

/// What logging hooks have in common.
class log_writer {
 public:
  explicit log_writer(logging how) : how_(std::move(how)) {}

  /// At `begin`: a hook that would write nowhere is a mistake.
  void begin(life& at) {
    said_ = false;
    if (!how_.log && !how_.writer) {
      at.fail(error_kind::invalid_argument,
              "a logging hook with log = false and no summary writer can say nothing. Mend: give .writer, or leave log on");
    }
  }
  [[nodiscard]] double now() const { return how_.clock(); }
  void scalar(std::string_view tag, double value, step_number step) const { how_.writer.add_scalar(tag, value, step); }

  /// A line with the time since the last one.
  void say(step_number step, std::string_view values) {
    double const time = now();
    log_moment const moment{said_ ? time - last_ : std::numeric_limits<double>::quiet_NaN(), step, values};
    last_ = time;
    if (!how_.log) {
      said_ = true;
      return;
    }
    if (how_.format) {
      how_.log(how_.format(moment));
    } else if (said_) {
      how_.log(fmt::format("({:9.3f} s) Step: {:6}, {}", moment.elapsed, step, values));
    } else {
      how_.log(fmt::format("(    N/A    ) Step: {:6}, {}", step, values));
    }
    said_ = true;
  }
  /// A line as it stands.
  void say_line(std::string_view line) const { how_.log(line); }
  /// A line that is nothing but its values.
  void say_rate(step_number step, std::string_view values) {
    if (how_.format) {
      say(step, values);
    } else {
      how_.log(values);
    }
  }

 private:
  logging how_;
  double last_ = 0;
  bool said_ = false;
};

}  // namespace detail
TAUTLINE_END
