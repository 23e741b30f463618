// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/hook.hpp>
#include <tautline/core/run_context.hpp>

TAUTLINE_BEGIN

/// A step by its ordinal, counted over all resumes: `stop_at_step{last_step(1000)}`.
struct last_step {
  step_number step;
  constexpr explicit last_step(step_number given) : step(given) {}
};

/// A number of steps from the step at which the session starts: `stop_at_step{num_steps(1000)}`.
struct num_steps {
  step_number count;
  constexpr explicit num_steps(step_number given) : count(given) {}
};

/// Asks for a stop when a step has been reached or passed.
///
///     auto session = monitored(graph, stop_at_step{1000});              // step 1000, counted over all resumes
///     auto session = monitored(graph, stop_at_step{num_steps(1000)});   // 1000 more from where this session starts
///
/// **Order** looks when a session is made, so that nothing runs if the step has been reached before, and after each
/// run. The target of `num_steps` is fixed at the first session and kept over recoveries; `begin` forgets it.
/// **Errors** none. **Stop** asks for one with the reason "reached step N".
/// **Cost** one comparison a step; 24 bytes; no allocation.
/// **Source** tf.train.StopAtStepHook, which looks after a run only and so makes one run too many on a resume.
class stop_at_step {
 public:
  static constexpr bool stateless = true;  // its target is that of this training
  static constexpr bool real_time = true;

  constexpr explicit stop_at_step(step_number step) : given_(step) {}
  constexpr explicit stop_at_step(last_step last) : given_(last.step) {}
  constexpr explicit stop_at_step(num_steps more) : given_(more.count), relative_(true) {}

  template <class Graph>
  constexpr void begin(Graph&) noexcept {
    fixed_ = false;
  }
  template <class Session>
  void after_create_session(Session& session, life& at) noexcept {
    if (!fixed_) {
      target_ = given_;
      if (relative_ && __builtin_add_overflow(session.step(), given_, &target_)) target_ = INT64_MAX;
      fixed_ = true;
    }
    look(at, session.step());
  }
  void after_run(run_context_base& ctx) noexcept { look(ctx, ctx.step()); }

  /// The step at which it stops, known as soon as a session has been made.
  [[nodiscard]] constexpr step_number target() const { return target_; }

 private:
  void look(life& at, step_number step) const noexcept {
    if (step >= target_) at.request_stop({"reached step {}", target_});
  }

  step_number given_;
  step_number target_ = 0;
  bool relative_ = false;
  bool fixed_ = false;
};

TAUTLINE_END
