// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/check_training.hpp>
#include <tautline/core/loop.hpp>
#include <tautline/core/steps.hpp>
#include <tautline/core/stepper.hpp>

TAUTLINE_BEGIN

/// How a drive ended. To be looked at where an error is a value: without exceptions, and from the `try_` forms.
struct TAUTLINE_CHECKED completion {
  stop_record stop;            ///< who asked for the stop, why, and at which step
  step_number steps = 0;       ///< completed steps
  error_kind error = error_kind::none;  ///< details are in the session's `status()`

  /// True if no error ended it.
  [[nodiscard]] explicit operator bool() const { return error == error_kind::none; }
};

namespace detail {

/// How a session is driven: the coroutine, the paces, and what a caller gets of one run or of many.
template <class Core>
class driver;
template <class Backend, class Options, class... Kept>
class driver<session_core<Backend, Options, Kept...>> : public stepper<session_core<Backend, Options, Kept...>> {
 public:
  using base = stepper<session_core<Backend, Options, Kept...>>;
  using core_type = typename base::core;
  static constexpr auto everyone = all_hooks<sizeof...(Kept)>;
  static constexpr auto nobody = hook_mask<sizeof...(Kept)>{};

  template <class Args>
  using result_of = run_result<core_type, typename inspect<Args>::fetches>;
  /// On a run with these items that the hooks of the mask see.
  template <auto Mask, class... Items>
  using verdict_on = decltype(check_run<Backend, core_type, Items...>(
      typename hooks_on<Mask, std::make_index_sequence<sizeof...(Kept)>, Kept...>::type{}));

  /// What was fed stays until nobody looks at the values any more.
  template <auto Mask, class Args>
  using finish_of = finish_guard<typename base::template full_request<Mask, Args>, Backend>;

  using base::base;

  /// Whether a loop of this pace ever yields before it is over.
  template <class Pace>
  static constexpr bool yields = !std::is_same_v<Pace, pace::unlimited>;
  struct nothing_yielded {
    nothing_yielded(driver&, auto const&) {}
  };
  template <class Pace, class Args>
  using yielded_by = std::conditional_t<yields<Pace>, run_context<core_type, Args>, nothing_yielded>;

  // --- the loop ---------------------------------------------------------------------------------------------------

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // false (g++ 12, -O0): the promise's delete frees nothing
#endif
  /// The coroutine that drives a session: the outer loop only. Between two yields `run_until` makes the runs, with a
  /// context of its own: with that in the frame every store of a kernel might change it.
  template <class Pace, class Args>
  loop drive(Pace pace, Args args) {
    finish_of<everyone, Args> const finish(this->backend);
    [[maybe_unused]] yielded_by<Pace, Args> here(*this, args);
    for (outcome last = outcome::stopped;;) {
      last = run_until(pace, args, last == outcome::again);
      if constexpr (yields<Pace>) {
        if (last == outcome::ran) co_yield here;
      }
      if (last != outcome::ran && last != outcome::again) co_return;
    }
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  /// Makes runs until the pace is reached (`ran`), a run has to be repeated (`again`), or there are no more.
  // A function of its own: inlined into the coroutine, clang keeps the local context in the frame and joins the two
  // loops, which costs a quarter more instructions a step. A call for each resume is all that this costs.
  template <class Pace, class Args>
  [[gnu::noinline]] outcome run_until(Pace& pace, Args const& args, bool repeat) {
    if (this->state.stopped() && !repeat) return outcome::stopped;
    bool paused = false;
    outcome const last = this->template make_runs<everyone>(args, [&] {
      paused = pace.reached();
      return !paused && !this->state.stopped();
    });
    return last == outcome::ran && !paused ? outcome::stopped : last;
  }

  struct slice_pace {
    driver* session;
    std::uint64_t last;
    std::uint64_t deadline;

    [[nodiscard]] bool has_room() const {
      std::uint64_t needed = session->slices.longest + (session->slices.longest + 3) / 4;  // 1.25 times, rounded up
      if constexpr (std::is_base_of_v<longest_step, Options>) needed = static_cast<longest_step&>(session->given).ticks;
      return deadline >= last && deadline - last >= needed && deadline > last;
    }
    bool reached() {
      std::uint64_t const now = session->ticks();
      if (now - last > session->slices.longest) session->slices.longest = now - last;
      last = now;
      return !has_room();
    }
  };

  [[nodiscard]] life_state& frame_memory() { return this->state; }

  // --- a live steps() ---------------------------------------------------------------------------------------------

  /// Makes the run that is marked. @return false if there is none to show any more
  bool run_wanted() {
    if (!this->live_loop || this->live_loop.done()) return false;
    if (this->state.run_marked) {
      this->state.run_marked = false;
      resume(this->live_loop);
      if (this->live_loop.done()) (void)tell_caller<true>();
    }
    return !this->live_loop.done();
  }
  /// Whether a steps() is alive that may still show something.
  [[nodiscard]] bool is_driven() const { return this->state.running || (this->live_loop && !this->live_loop.done()); }
  /// Hooks do not re-enter: for as long as the loop runs, whoever calls the session is refused.
  void resume(loop const& driving) {
    this->state.running = true;
    driving.resume();
    this->state.running = false;
  }
  void hold() { ++this->state.handles; }
  void release() {
    if (--this->state.handles == 0) {
      this->live_loop.destroy();
      this->state.give_frame_back();
    }
  }

  template <bool Throw, class Pace, class Args>
  loop make_loop(Pace pace, Args args) {
    loop made = drive(pace, args);
    if (!made) (void)refuse<Throw>(error_kind::frame_too_small, "the loop's frame does not fit; give options{frame_bytes<N>{}}");
    return made;
  }

  // The completion is made where it is looked at, from what the compiler takes apart: whoever only wants to know whether
  // all went well has no record of the stop, and no names of hooks, in the program.
  template <bool Throw, class Pace, class... Items>
  TAUTLINE_INLINE completion drive_once(Pace pace, Items const&... items) {
    using args = run_args<Items...>;
    using verdict = verdict_on<everyone, Items...>;
    if constexpr (verdict::good) {
      return completed(drive_to_its_end<Throw>(pace, args(items...)));
    } else {
      verdict::say();
      return completion{};
    }
  }
  template <bool Throw, class Pace, class Args>
  error_kind drive_to_its_end(Pace pace, Args args) {
    if (is_driven()) return refuse_busy<Throw>();
    if (!this->state.stopped()) {
      {
        loop const driving = make_loop<Throw>(pace, args);
        if (!driving) return error_kind::frame_too_small;
        resume(driving);
      }
      this->state.give_frame_back();
    }
    return tell_caller<Throw>();
  }

  /// The session's error, if it has one. The first time it is thrown.
  template <bool Throw>
  error_kind tell_caller() {
    if (this->state.kept() == 0) return error_kind::none;
    if (this->state.tell_caller()) raise_first<Throw>();
    return this->state.kind_of_first();
  }
  TAUTLINE_INLINE completion completed(error_kind how) {
    completion done;
    asm volatile("" ::: "memory");  // whoever asks again in a loop is told anew
    done.stop = this->last_record_of_stop();
    done.steps = this->state.completed;
    done.error = how;
    return done;
  }

  void shut(bool success) {
    this->live_loop.destroy();
    this->state.give_frame_back();
    this->shut_down(success);
    this->state.told_caller = true;
  }

  // --- one run ----------------------------------------------------------------------------------------------------

  template <auto Mask, bool Throw, class... Items>
  auto run_masked(Items const&... items) {
    using args = run_args<Items...>;
    using verdict = verdict_on<Mask, Items...>;
    if constexpr (verdict::good) {
      args const asked(items...);
      if (this->state.running) return refuse_run<Throw, result_of<args>>(outcome::busy);
      if (this->state.stopped()) return refuse_run<Throw, result_of<args>>(outcome::stopped);
      finish_of<Mask, args> const finish(this->backend);
      this->state.running = true;
      outcome done = outcome::again;
      while (done == outcome::again) done = this->template make_runs<Mask>(asked, [] { return false; });
      this->state.running = false;
      return take_result<Throw, result_of<args>, typename base::template full_request<Mask, args>>(done, asked);
    } else {
      verdict::say();
      return rejected{};
    }
  }

  template <bool Throw, class Result>
  Result refuse_run(outcome why) {
    if (why == outcome::busy) {
      (void)refuse_busy<Throw>();
      return Result::of_error(error_kind::busy);
    }
    (void)refuse<Throw>(error_kind::run_after_stop, "a run after a stop, after the end of the input, or after close");
    return Result::of_error(error_kind::run_after_stop);
  }
  template <bool Throw, class Result, class Request, class Args>
  Result take_result(outcome done, Args const& asked) {
    switch (done) {
      case outcome::ran: return Result::template of_run<Request>(*this, asked);
      case outcome::ended: return Result::of_end();
      default:
        this->state.told_caller = true;
        raise_first<Throw>();
        return Result::of_error(this->error_at(0).kind);
    }
  }

  template <class Request>
  outcome evaluate_once(Request const& request) {
    for (;;) {
      plain_life at(this->state);
      access::enter(at, callback::run, no_hook);
      tautline::status done;
      bool thrown = false;
      TAUTLINE_TRY {
        [[maybe_unused]] auto const seen = this->watch(at, callback::run, base::hook_count);
        done = this->backend.run(request);
      }
      TAUTLINE_CATCH_ALL {
        thrown = true;
#if TAUTLINE_EXCEPTIONS
        auto const happened = access::describe_exception(access::place(at));
        if (happened.kind == error_kind::out_of_range) return outcome::ended;
        this->state.report(happened);
#endif
      }
      if (!thrown && done.ok()) {
        this->state.recoveries = 0;
        return outcome::ran;
      }
      if (!thrown && done.kind == error_kind::out_of_range) return outcome::ended;
      if (!thrown) access::report(at, done);
      if (this->settle(true) != outcome::again) return outcome::failed;
    }
  }

  // --- errors -----------------------------------------------------------------------------------------------------

  template <bool Throw>
  void raise_first() {
#if TAUTLINE_EXCEPTIONS
    if constexpr (Throw) raise(this->error_at(0));
#endif
  }
  template <bool Throw>
  error_kind refuse_busy() {
    return refuse<Throw>(error_kind::busy, "a steps() of this session is alive, or a hook calls the session that it stands in");
  }
  /// An error of the call, not of the session: nothing is recorded.
  template <bool Throw>
  error_kind refuse(error_kind kind, [[maybe_unused]] literal message) {
#if TAUTLINE_EXCEPTIONS
    if constexpr (Throw) throw_refusal(kind, text::of_lasting(message.c_str()));
#endif
    return kind;
  }
#if TAUTLINE_EXCEPTIONS
  [[noreturn]] TAUTLINE_COLD void throw_refusal(error_kind kind, text const& message) {
    error refused;
    refused.kind = kind;
    refused.has_step = this->state.has_session;
    refused.step = this->state.completed;
    refused.message = message;
    raise(refused);
  }
#endif
};

}  // namespace detail
TAUTLINE_END
