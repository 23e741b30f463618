// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include <tautline/adapt/chrono.hpp>
#include <tautline/hooks/phase_clock.hpp>
#include <tautline/io/detail/signals_held.hpp>
#include <tautline/io/log_sink.hpp>

TAUTLINE_BEGIN

/// What a `watchdog` does, besides saying so, when something takes too long.
enum class on_overdue : std::uint8_t {
  report,        ///< nothing more
  request_stop,  ///< asks for a stop: a step that is only slow is the last one. What hangs does not see it
  abort,         ///< ends the process with `std::abort()`, so that a supervisor starts it anew
};

/// How a `watchdog` watches.
struct watchdog_options {
  on_overdue action = on_overdue::report;
  log_sink log{};                                ///< the line goes there, from the watching thread; by default the standard error
  std::function<void(overdue const&)> call{};    ///< is called, too, from the watching thread, before the action
  double poll_seconds = 0;                       ///< between two looks; 0: a tenth of the shortest limit, 1 ms to 1 s
  bool thread = true;                            ///< false: nobody looks but who calls `poll()`
};

/// Says so, asks for a stop, or ends the process when a step, an evaluation, a save or the making of a session takes too
/// long: a deadlock, a file system that does not answer, a lost connection.
///
///     auto session = monitored(graph, watchdog{{.first_step = 300, .step = 10, .save = 60}});
///     auto session = monitored(graph, watchdog{{.step = 10}, {.action = on_overdue::abort}});
///
///     watchdog: step 1207 has taken 10.4 s, the limit is 10 s: in after_run of my_uploader
///
/// A thread of its own looks at a `phase_clock`, from `begin` to `close`. Without threads use that one.
///
/// @param limits seconds a phase; 0, the default, is no limit
/// @tparam Clock any `clock_type`; the steady clock by default
/// **Order** outermost. Each phase that is late is told once, late by `poll_seconds` at most, never too early.
/// **Errors** `invalid_argument` in `begin` if no limit is set, or one is negative. **Stop** with "the step has taken
/// more than 10 s" and the like as reason.
/// **Cost** that of `phase_clock` in the loop: no clock, no lock; a thread that sleeps.
template <clock_type Clock = steady_clock_ticks>
class watchdog {
 public:
  static constexpr bool stateless = true;
  static constexpr bool real_time = true;
  static constexpr bool outermost = true;

  explicit watchdog(phase_limits limits, watchdog_options how = {}, Clock clock = {})
      : inside_(std::make_unique<inside>(limits, std::move(how), std::move(clock))) {}
  watchdog(watchdog&&) noexcept = default;
  watchdog& operator=(watchdog&&) = delete;
  ~watchdog() {
    if (inside_) inside_->stop();
  }

  template <class Graph>
  void begin(Graph& graph, life& at) {
    inside_->stop();
    phase_limits const& set = inside_->phases.limits();
    bool negative = false;
    for (double each : {set.creation, set.first_step, set.step, set.evaluation, set.save}) negative = negative || !(each >= 0);
    if (negative || set.shortest() == 0) {
      at.fail(error_kind::invalid_argument, "watchdog: no limit is set, or one is negative. Mend: watchdog{{.step = 10}}");
      return;
    }
    inside_->phases.begin(graph);
    inside_->count = 0;
    inside_->handle = at.handle();
    inside_->start();
  }
  template <class Context>
  void before_run(Context& ctx) noexcept {
    inside_->phases.before_run(ctx);
  }
  template <class Context>
  void after_run(Context& ctx) noexcept {
    inside_->phases.after_run(ctx);
  }
  void on_error(error const& happened) noexcept { inside_->phases.on_error(happened); }
  void on_enter(moment const& now) noexcept { inside_->phases.on_enter(now); }
  void on_leave(moment const& now) noexcept { inside_->phases.on_leave(now); }
  void close() {
    inside_->phases.close();
    inside_->stop();
    inside_->handle = {};
  }

  /// One look, in this thread. For `thread = false`, and for tests. @return what is late, if it has not been told before
  overdue poll() { return inside_->look(); }
  /// How often something was late, since `begin`.
  [[nodiscard]] int reports() const noexcept { return inside_->count; }

 private:
  struct inside {
    inside(phase_limits limits, watchdog_options given, Clock of)
        : how(std::move(given)), clock(std::move(of)), phases(limits, static_cast<std::uint64_t>(clock.ticks_per_second())) {}

    overdue look() {
      overdue const late = phases.look(static_cast<std::uint64_t>(clock.now()));
      if (late) act(late);
      return late;
    }
    void act(overdue const& late) {
      ++count;
      char line[320] = "watchdog: ";
      late.write_to(line + 10, sizeof line - 10);
      how.log(std::string_view(line));
      if (how.call) how.call(late);
      if (how.action == on_overdue::request_stop) handle.request_stop(reason(late));
      if (how.action == on_overdue::abort) std::abort();
    }
    static text reason(overdue const& late) {
      switch (late.phase) {
        case training_phase::creation: return {"the making of the session has taken more than {} s", late.limit};
        case training_phase::first_step: return {"the first step has taken more than {} s", late.limit};
        case training_phase::evaluation: return {"the evaluation has taken more than {} s", late.limit};
        case training_phase::save: return {"the save has taken more than {} s", late.limit};
        default: return {"the step has taken more than {} s", late.limit};
      }
    }

    void start() {
      if (!how.thread) return;
      double pause = how.poll_seconds;
      if (!(pause > 0)) pause = phases.limits().shortest() / 10;
      if (!(how.poll_seconds > 0)) pause = pause < 0.001 ? 0.001 : pause > 1 ? 1 : pause;
      over = false;
      detail::signals_held const held;  // they are for the program's own threads
      watching = std::thread([this, pause] {
        std::unique_lock lock(door);
        while (!bell.wait_for(lock, std::chrono::duration<double>(pause), [this] { return over; })) {
          lock.unlock();
          (void)look();
          lock.lock();
        }
      });
    }
    void stop() {
      if (!watching.joinable()) return;
      {
        std::lock_guard const guard(door);
        over = true;
      }
      bell.notify_one();
      watching.join();
    }

    watchdog_options how;
    Clock clock;
    phase_clock phases;
    stop_handle handle;
    std::atomic<int> count{0};
    std::thread watching;
    std::mutex door;
    std::condition_variable bell;
    bool over = false;
  };

  std::unique_ptr<inside> inside_;
};
watchdog(phase_limits) -> watchdog<>;
watchdog(phase_limits, watchdog_options) -> watchdog<>;

TAUTLINE_END
