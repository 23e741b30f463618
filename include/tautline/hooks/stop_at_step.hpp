// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/backend.hpp>
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

  /// The same by a value of the session that counts steps, and that others advance, too: `stop_at_step::of<"global_step">`.
  template <fixed_string Name>
  class of;

  constexpr explicit stop_at_step(step_number step) : given_(step) {}
  constexpr explicit stop_at_step(last_step last) : given_(last.step) {}
  constexpr explicit stop_at_step(num_steps more) : given_(more.count), relative_(true) {}

  template <class Graph>
  constexpr void begin(Graph&) noexcept {
    fixed_ = false;
  }
  template <class Session>
  void after_create_session(Session& session, life& at) noexcept {
    begin_at(at, session.step());
  }
  TAUTLINE_INLINE void after_run(run_context_base& ctx) noexcept { look(ctx, ctx.step()); }

  /// The step at which it stops, known as soon as a session has been made.
  [[nodiscard]] constexpr step_number target() const { return target_; }

 private:
  void begin_at(life& at, step_number step) noexcept {
    if (!fixed_) {
      target_ = given_;
      if (relative_ && __builtin_add_overflow(step, given_, &target_)) target_ = INT64_MAX;
      fixed_ = true;
    }
    look(at, step);
  }
  TAUTLINE_INLINE void look(life& at, step_number step) const noexcept {
    if (step >= target_) at.request_stop({"reached step {}", target_});
  }

  step_number given_;
  step_number target_ = 0;
  bool relative_ = false;
  bool fixed_ = false;
};

/// Of several trainings that advance one step together each ends when it is reached, whoever got there:
///
///     auto session = monitored(graph, stop_at_step::of<"global_step">{last_step{10'000}});
///
/// @tparam Name a value that can be read without a run, such as a variable; an integer
/// **Order** looks when a session is made, and after each run. Each of the others may have begun one more run meanwhile: of
/// N workers the step ends at most N - 1 beyond.
/// **Cost** what the backend takes to know the value after each run, and, where it has a `global_step()`, a reading of that
/// close to the end. For a step that nobody else advances `stop_at_step` itself is right.
/// **Source** tf.train.StopAtStepHook, which fetches the step with each run and reads it again close to the end.
template <fixed_string Name>
class stop_at_step::of {
 public:
  static constexpr bool stateless = true;

  constexpr explicit of(step_number step) : inner_(step) {}
  constexpr explicit of(last_step last) : inner_(last) {}
  constexpr explicit of(num_steps more) : inner_(more) {}

  template <class Graph>
  constexpr void begin(Graph& graph) noexcept {
    inner_.begin(graph);
  }
  template <class Session>
  void after_create_session(Session& session, life& at) {
    inner_.begin_at(at, step_now(session.backend()));
  }
  template <class Context>
  void after_run(Context& ctx) {
    auto& backend = ctx.session().backend();
    step_number step = step_seen(backend);
    // what the run itself saw may be short of its own step
    if (step < inner_.target_ && step + 1 >= inner_.target_) step = step_now(backend);
    inner_.look(ctx, step);
  }

  /// The step at which it stops, known as soon as a session has been made.
  [[nodiscard]] constexpr step_number target() const { return inner_.target(); }

 private:
  template <class Backend>
  static step_number step_seen(Backend& backend) {
    return static_cast<step_number>(detail::stored_value<Name, void>(backend));
  }
  template <class Backend>
  static step_number step_now(Backend& backend) {
    if constexpr (has_global_step<Backend>) {
      return static_cast<step_number>(backend.global_step());
    } else {
      return step_seen(backend);
    }
  }

  stop_at_step inner_;
};

TAUTLINE_END
