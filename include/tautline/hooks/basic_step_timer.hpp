// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <tautline/core/hook.hpp>
#include <tautline/core/options.hpp>
#include <tautline/core/run_context.hpp>
#include <tautline/core/watch.hpp>
#include <tautline/hooks/time_histogram.hpp>

TAUTLINE_BEGIN

/// Stands for the clock of the session (`options{with_clock{…}}`).
struct session_clock {};

/// Time spent in one hook, or in one kind of callback.
struct time_spent {
  char const* name = "";  ///< of static life; empty for the session's own work: its runs and the making of sessions
  std::uint64_t ticks = 0;
  std::uint64_t calls = 0;
  std::uint64_t longest = 0;

  constexpr void add(std::uint64_t took) noexcept {
    ticks += took;
    ++calls;
    if (took > longest) longest = took;
  }
};

/// What a step timer has found.
class step_times {
 public:
  static constexpr int hook_places = 24;  ///< of more hooks the last ones share a place
  static constexpr int phases = static_cast<int>(callback::close) + 1;

  time_histogram steps;   ///< from the first `before_run` to the last `after_run`
  time_histogram jitter;  ///< by how much two steps in a row differ in length
  std::uint64_t misses = 0;          ///< steps longer than the deadline
  std::uint64_t misses_in_a_row = 0; ///< the longest row of them
  std::uint64_t ticks_per_second = 1;

  /// Seconds that ticks are.
  [[nodiscard]] constexpr double seconds(double ticks) const noexcept { return ticks / static_cast<double>(ticks_per_second); }
  /// `step_seconds(0.99)`: a quantile of the steps, in seconds.
  [[nodiscard]] constexpr double step_seconds(double part) const noexcept { return seconds(steps.quantile(part)); }
  [[nodiscard]] constexpr double jitter_seconds(double part) const noexcept { return seconds(jitter.quantile(part)); }

  /// By place of the hook among the arguments; calls of 0 where there is none, or it was never called. The session's
  /// own work has the place behind the last hook.
  [[nodiscard]] constexpr time_spent const& at_place(int place) const noexcept { return by_place_[place]; }
  [[nodiscard]] constexpr int places() const noexcept { return places_; }
  /// In a kind of callback, over all hooks.
  [[nodiscard]] constexpr time_spent const& in(callback where) const noexcept { return by_phase_[static_cast<int>(where)]; }

  constexpr void add(moment const& now, std::uint64_t took) noexcept {
    int const place = now.place < hook_places ? static_cast<int>(now.place) : hook_places - 1;
    if (place >= places_) places_ = place + 1;
    by_place_[place].name = now.hook;
    by_place_[place].add(took);
    by_phase_[static_cast<int>(now.where)].name = to_string(now.where);
    by_phase_[static_cast<int>(now.where)].add(took);
  }

 private:
  time_spent by_place_[hook_places];
  time_spent by_phase_[phases];
  int places_ = 0;
};

/// Tells nobody: the times are to be read from the hook.
struct no_times_report {
  constexpr void operator()(step_number, step_times const&) const {}
};

namespace detail {

/// Reads a clock whose type is a part of the hook.
template <class Clock>
class timer_clock {
 public:
  constexpr explicit timer_clock(Clock clock) : clock_(static_cast<Clock&&>(clock)) {}
  template <class Session>
  void meet(Session const&, life&) noexcept {}
  [[nodiscard]] static constexpr bool is_known() noexcept { return true; }
  [[nodiscard]] std::uint64_t now() noexcept { return static_cast<std::uint64_t>(clock_.now()); }
  [[nodiscard]] std::uint64_t per_second() noexcept { return static_cast<std::uint64_t>(clock_.ticks_per_second()); }

 private:
  [[no_unique_address]] Clock clock_;
};
/// The session's clock: known from the first session on, through a function that knows the session's type.
template <>
class timer_clock<session_clock> {
 public:
  constexpr explicit timer_clock(session_clock = {}) {}
  template <class Session>
  void meet(Session const& session, life& at) noexcept {
    static_assert(sizeof(Session) == sizeof session_ && std::is_trivially_copyable_v<Session>);
    if (!Session::has_clock) {
      at.fail(error_kind::invalid_argument, "step_timer needs a clock. Mend: step_timer{steady_clock_ticks{}}, or monitored(graph, "
                                            "options{with_clock{steady_clock_ticks{}}}, hooks...)");
      return;
    }
    __builtin_memcpy(&session_, &session, sizeof session_);
    second_ = session.ticks_per_second();
    read_ = [](void const* kept) { return static_cast<Session const*>(kept)->ticks(); };
  }
  [[nodiscard]] bool is_known() const noexcept { return read_ != nullptr; }
  [[nodiscard]] std::uint64_t now() const noexcept { return read_(&session_); }
  [[nodiscard]] std::uint64_t per_second() const noexcept { return second_; }
  void forget() noexcept { read_ = nullptr; }

 private:
  void* session_ = nullptr;
  std::uint64_t (*read_)(void const*) = nullptr;
  std::uint64_t second_ = 1;
};

}  // namespace detail

/// How a step timer measures.
struct step_timer_options {
  double deadline = 0;   ///< seconds: a step that takes longer is a miss; 0: none is
  bool by_hook = true;   ///< false: only whole steps, which takes two readings of the clock instead of two a callback
};

/// The core of `step_timer`, without a heap and without text: what it found is in `times()`, and goes to `Report` in `end`.
///
/// @tparam Clock any `clock_type`, or `session_clock`
/// @tparam Report callable with the step and the `step_times`
/// @see step_timer
template <class Clock = session_clock, class Report = no_times_report>
class basic_step_timer {
 public:
  static constexpr bool stateless = true;  // times are those of this process
  static constexpr bool real_time = true;
  static constexpr bool outermost = true;

  constexpr explicit basic_step_timer(step_timer_options how = {}, Clock clock = {}, Report report = {})
      : how_(how), clock_(static_cast<Clock&&>(clock)), report_(static_cast<Report&&>(report)) {}

  template <class Graph>
  void begin(Graph&, life& at) {
    times_ = {};
    row_ = 0;
    depth_ = 0;
    in_step_ = has_last_ = false;
    if constexpr (requires { report_.begin(at); }) report_.begin(at);
    if (!(how_.deadline >= 0)) at.fail(error_kind::invalid_argument, "step_timer: a deadline is not negative");
  }
  template <class Session>
  void after_create_session(Session& session, life& at) noexcept {
    clock_.meet(session, at);
    if (clock_.is_known()) {
      times_.ticks_per_second = clock_.per_second();
      deadline_ticks_ = how_.deadline * static_cast<double>(times_.ticks_per_second);
    }
    has_last_ = false;  // the first step of a session is no measure for the next one
  }
  template <class Context>
  void before_run(Context&) noexcept {
    in_step_ = true;
    began_ = clock_.now();
  }
  template <class Context>
  void after_run(Context&) noexcept {
    if (!in_step_) return;
    in_step_ = false;
    add_step(clock_.now() - began_);
  }
  template <class Session>
  void end(Session&, life& at) {
    report_(at.step(), static_cast<step_times const&>(times_));
  }
  void on_error(error const&) noexcept { in_step_ = false; }
  void close() noexcept {
    if constexpr (requires { clock_.forget(); }) clock_.forget();
  }

  void on_enter(moment const&) noexcept {
    if (!how_.by_hook || !clock_.is_known()) return;
    if (depth_ < deepest) began_at_[depth_] = clock_.now();
    ++depth_;
  }
  void on_leave(moment const& now) noexcept {
    if (depth_ == 0) return;  // it began before there was a clock
    --depth_;
    if (depth_ >= deepest || !clock_.is_known()) return;
    times_.add(now, clock_.now() - began_at_[depth_]);
  }

  /// What has been found since `begin`.
  [[nodiscard]] step_times const& times() const noexcept { return times_; }

 private:
  static constexpr int deepest = 4;  // moments that nest

  void add_step(std::uint64_t took) noexcept {
    times_.steps.add(took);
    if (has_last_) times_.jitter.add(took > last_ ? took - last_ : last_ - took);
    last_ = took;
    has_last_ = true;
    if (how_.deadline > 0 && static_cast<double>(took) > deadline_ticks_) {
      ++times_.misses;
      if (++row_ > times_.misses_in_a_row) times_.misses_in_a_row = row_;
    } else {
      row_ = 0;
    }
  }

  step_timer_options how_;
  [[no_unique_address]] detail::timer_clock<Clock> clock_;
  [[no_unique_address]] Report report_;
  double deadline_ticks_ = 0;
  std::uint64_t began_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t row_ = 0;
  std::uint64_t began_at_[deepest]{};
  int depth_ = 0;
  bool in_step_ = false;
  bool has_last_ = false;
  step_times times_;
};

TAUTLINE_END
