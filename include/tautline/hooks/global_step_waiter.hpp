// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <tautline/core/backend.hpp>
#include <tautline/core/hook.hpp>
#include <tautline/core/run_context.hpp>
#include <tautline/core/run_result.hpp>

TAUTLINE_BEGIN

namespace detail {
/// A log that nobody reads.
struct no_log {
  constexpr void operator()(char const*) const noexcept {}
};
}  // namespace detail

/// Holds the first run back until the global step, which other workers advance, has come to a number: later workers
/// of a distributed training start gently.
///
///     global_step_waiter{500 * worker, thread_sleeper{}, [](std::string_view line) { … }}
///
/// @tparam Sleeper callable with milliseconds (`std::uint32_t`); `thread_sleeper` of `<tautline/adapt/chrono.hpp>`
/// @tparam Log callable with a line (`char const*`); without one nothing is said
///
/// The step is the backend's `global_step()`, where it has one, else the session's completed steps: nobody but this
/// session advances those, so only a stop ends a wait that has to be made.
///
/// **Order** in the first `before_run` after `begin`; not again after a recovery. Looks, then sleeps 0.5 s, again and
/// again; says a line when it begins to wait and whenever the step has advanced by 1000 since the last line.
/// **Errors** what the backend, the sleeper or the log throws. **Stop** ends the wait; the run in progress still happens.
/// **Cost** a flag a step; no allocation.
/// **Source** tf.train.GlobalStepWaiterHook, which does not listen to stop requests.
template <std::invocable<std::uint32_t> Sleeper, std::invocable<char const*> Log = detail::no_log>
class global_step_waiter {
 public:
  static constexpr bool stateless = true;

  static constexpr std::uint32_t pause_milliseconds = 500;
  static constexpr step_number steps_between_lines = 1000;

  constexpr global_step_waiter(step_number wait_until_step, Sleeper sleeper, Log log = {})
      : wait_until_step_(wait_until_step),
        sleeper_(static_cast<Sleeper&&>(sleeper)),
        log_(static_cast<Log&&>(log)) {}

  template <class Graph>
  constexpr void begin(Graph&) noexcept {
    passed_ = false;
  }
  template <class Context>
  void before_run(Context& ctx) {
    if (!passed_) {
      passed_ = true;
      wait(ctx);
    }
  }

 private:
  template <class Session>
  static step_number step_of(Session const& session) {
    if constexpr (requires { requires has_global_step<std::remove_cvref_t<decltype(session.backend())>>; }) {
      return static_cast<step_number>(session.backend().global_step());
    } else {
      return session.step();
    }
  }
  template <class Context>
  void wait(Context& ctx) {
    auto const session = ctx.session();
    if (wait_until_step_ <= 0) return;
    step_number said = 0;
    for (bool first = true;; first = false) {
      step_number const now = step_of(session);
      if (now >= wait_until_step_ || ctx.stop_requested()) return;
      if (first || now - said >= steps_between_lines) {
        said = now;
        char line[96];
        text("global_step_waiter: waiting for step {}, it is {}", wait_until_step_, now).write_to(line, sizeof line);
        log_(static_cast<char const*>(line));
      }
      sleeper_(pause_milliseconds);
    }
  }

  step_number wait_until_step_;
  [[no_unique_address]] Sleeper sleeper_;
  [[no_unique_address]] Log log_;
  bool passed_ = false;
};

TAUTLINE_END
