// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <tautline/core/hook.hpp>
#include <tautline/core/run_context.hpp>
#include <tautline/core/watch.hpp>

TAUTLINE_BEGIN

/// What a session is doing, as a watchdog sees it.
enum class training_phase : std::uint8_t {
  none,        ///< nothing: before the session, between two steps, in `end`, after it
  creation,    ///< a session is made, or hooks are told of it
  first_step,  ///< the first step of a session
  step,        ///< any other
  evaluation,  ///< a hook of the category `evaluating`
  save,        ///< a checkpoint is saved
};
[[nodiscard]] constexpr char const* to_string(training_phase phase) {
  constexpr char const* names[] = {"none", "creation", "first step", "step", "evaluation", "save"};
  return names[static_cast<std::size_t>(phase)];
}

/// How long each phase may take, in seconds; 0: as long as it likes.
///
///     phase_limits{.creation = 300, .first_step = 60, .step = 2, .evaluation = 120, .save = 30}
struct phase_limits {
  double creation = 0;
  double first_step = 0;
  double step = 0;
  double evaluation = 0;
  double save = 0;

  [[nodiscard]] constexpr double of(training_phase phase) const {
    double const all[] = {0, creation, first_step, step, evaluation, save};
    return all[static_cast<std::size_t>(phase)];
  }
  /// The shortest one that is set; 0 if none is.
  [[nodiscard]] constexpr double shortest() const {
    double found = 0;
    for (double each : {creation, first_step, step, evaluation, save}) {
      if (each > 0 && (found == 0 || each < found)) found = each;
    }
    return found;
  }
};

/// What has taken too long.
struct overdue {
  training_phase phase = training_phase::none;
  callback where = callback::none;  ///< the callback that is in progress; `run` for the session's own
  char const* hook = "";            ///< whose it is; empty for the session
  step_number step = 0;
  double seconds = 0;  ///< since the phase was first seen
  double limit = 0;

  [[nodiscard]] explicit operator bool() const { return phase != training_phase::none; }

  /// "step 12 has taken 3.2 s, the limit is 2 s: in after_run of my_hook", cut to `size - 1` characters.
  std::size_t write_to(char* out, std::size_t size) const {
    detail::writer written(out, size);
    if (phase == training_phase::step || phase == training_phase::first_step) {
      written.put(to_string(phase)), written.put(' ');
      written.put(static_cast<double>(step));
    } else {
      written.put(to_string(phase)), written.put(" at step ");
      written.put(static_cast<double>(step));
    }
    written.put(" has taken "), written.put(seconds);
    written.put(" s, the limit is "), written.put(limit);
    written.put(" s: in "), written.put(where == callback::none ? "the session" : to_string(where));
    if (*hook != 0) written.put(" of "), written.put(hook);
    return static_cast<std::size_t>(written.position() - out);
  }
};

/// Knows in which phase a session is, and for how long: the logic of a watchdog, without a thread and without a clock.
/// A hook: it is told of everything by the session; whoever watches asks `look(ticks)` from anywhere, every now and
/// then: another thread, a timer's interrupt.
///
///     phase_clock phases{{.step = 0.01}, 1000};                                   // ticks a second
///     auto session = monitored(graph, std::ref(phases));
///     void on_timer() { if (overdue const late = phases.look(ticks_now())) … }    // 100 times a second, say
///
/// The loop's side is a few relaxed stores, and reads no clock: a phase's time counts from the first look that sees it. So
/// what is late is told late by the time between two looks at most, and never too early. Each phase is told once.
///
/// Within a step an evaluation is a phase of its own; the rest of the step begins to count when it is over.
///
/// **Order** outermost: its step begins before, and ends after those of the others. **Cost** about 10 stores a step,
/// and two a callback; no allocation, no clock, no lock. **Thread-safety** `look` from one thread or interrupt,
/// everything else from the session's.
class phase_clock {
 public:
  static constexpr bool stateless = true;
  static constexpr bool real_time = true;
  static constexpr bool outermost = true;

  /// @param ticks_per_second of the ticks that `look` is given
  constexpr explicit phase_clock(phase_limits limits, std::uint64_t ticks_per_second)
      : limits_(limits), second_(ticks_per_second > 0 ? ticks_per_second : 1) {}

  template <class Graph>
  void begin(Graph&) noexcept {
    first_ = true;
    enter(training_phase::none, 0);
  }
  template <class Context>
  void before_run(Context& ctx) noexcept {
    enter(first_ ? training_phase::first_step : training_phase::step, ctx.step());
  }
  template <class Context>
  void after_run(Context& ctx) noexcept {
    first_ = false;
    enter(training_phase::none, ctx.step());
  }
  void on_error(error const& happened) noexcept { enter(training_phase::none, happened.step); }
  void close() noexcept { enter(training_phase::none, step()); }

  void on_enter(moment const& now) noexcept {
    store(hook_, now.hook);
    store(where_, static_cast<std::uint8_t>(now.where));
    training_phase const inner = inner_phase(now);
    if (inner == training_phase::none) return;
    if (inner == training_phase::creation) first_ = true;
    if (depth_++ == 0) {
      outer_ = phase();
      enter(inner, now.step);
    }
  }
  void on_leave(moment const& now) noexcept {
    store(hook_, "");
    store(where_, static_cast<std::uint8_t>(callback::none));
    if (inner_phase(now) == training_phase::none || --depth_ > 0) return;
    enter(outer_ == training_phase::creation ? training_phase::none : outer_, now.step);
  }

  /// Whether what the session does takes too long. @param ticks now, of a clock that does not go back
  [[nodiscard]] overdue look(std::uint64_t ticks) noexcept {
    std::uint32_t const seen = load(state_);
    if (seen != seen_ || !looked_) {
      seen_ = seen;
      since_ = ticks;
      told_ = false;
      looked_ = true;
      return {};
    }
    auto const now = static_cast<training_phase>(seen & 15);
    double const limit = limits_.of(now);
    double const seconds = static_cast<double>(ticks - since_) / static_cast<double>(second_);
    if (told_ || limit <= 0 || !(seconds > limit)) return {};
    overdue late;
    late.phase = now;
    late.hook = load(hook_);
    late.where = static_cast<callback>(load(where_));
    late.step = step();
    late.seconds = seconds;
    late.limit = limit;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (load(state_) != seen) return {};  // it has gone on meanwhile
    told_ = true;
    return late;
  }

  /// What the session is doing.
  [[nodiscard]] training_phase phase() const noexcept { return static_cast<training_phase>(load(state_) & 15); }
  [[nodiscard]] phase_limits const& limits() const noexcept { return limits_; }

 private:
  // Not <atomic>, which the core does without; and no 64-bit atomics, which a small machine has to do with a lock.
  template <class Word>
  static void store(Word& word, std::type_identity_t<Word> value) noexcept {
    __atomic_store_n(&word, value, __ATOMIC_RELAXED);
  }
  template <class Word>
  static Word load(Word const& word) noexcept {
    return __atomic_load_n(&word, __ATOMIC_RELAXED);
  }

  static training_phase inner_phase(moment const& now) noexcept {
    if (now.where == callback::create_session || now.where == callback::after_create_session) return training_phase::creation;
    if (now.where == callback::save) return training_phase::save;
    if (now.role == hook_role::evaluation && (now.where == callback::after_run || now.where == callback::end)) return training_phase::evaluation;
    return training_phase::none;
  }
  /// A new phase has a new number, also where the last one was of the same kind.
  void enter(training_phase next, step_number at) noexcept {
    std::uint32_t const number = (load(state_) >> 4) + 1;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    store(step_low_, static_cast<std::uint32_t>(at));
    store(step_high_, static_cast<std::uint32_t>(at >> 32));
    __atomic_store_n(&state_, number << 4 | static_cast<std::uint32_t>(next), __ATOMIC_RELEASE);
  }
  [[nodiscard]] step_number step() const noexcept {
    return static_cast<step_number>(static_cast<std::uint64_t>(load(step_high_)) << 32 | load(step_low_));
  }

  phase_limits limits_;
  std::uint64_t second_;
  // written by the session
  char const* hook_ = "";
  std::uint32_t state_ = 0;  // a number and a phase
  std::uint32_t step_low_ = 0;
  std::uint32_t step_high_ = 0;
  std::uint8_t where_ = 0;
  training_phase outer_ = training_phase::none;
  bool first_ = true;
  std::uint8_t depth_ = 0;
  // written by who looks
  std::uint64_t since_ = 0;
  std::uint32_t seen_ = 0;
  bool told_ = false;
  bool looked_ = false;
};

TAUTLINE_END
