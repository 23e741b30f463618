// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/hook.hpp>
#include <tautline/core/run_result.hpp>

TAUTLINE_BEGIN

/// When a `stopper` stops: as soon as one of the criteria is met. What is not set does not count.
///
///     stop_criteria{.max_steps = 10'000, .max_seconds = 3600}
struct stop_criteria {
  static constexpr std::int64_t unlimited = -1;
  static constexpr double off = -1;

  step_number max_steps = unlimited;    ///< steps
  std::int64_t max_epochs = unlimited;  ///< epochs, as the graph's value counts them
  double max_seconds = off;             ///< seconds since the first session was made, by the session's clock
  double abs_loss_change_tol = off;     ///< a loss that changes by less, from one step to the next, stands still
  double rel_loss_change_tol = off;     ///< the same, as a part of the previous step's loss
  int max_step_below_tol = 10;          ///< more steps in a row than that with a loss that stands still: stop
  bool restart_counting = true;  ///< steps and epochs count from where the session starts; false: from the very first

  [[nodiscard]] constexpr bool watches_loss() const { return abs_loss_change_tol >= 0 || rel_loss_change_tol >= 0; }
};

/// Stops by several criteria at once.
///
///     stopper{stop_criteria{.max_steps = 10'000, .max_seconds = 3600}}
///     stopper<"loss">{stop_criteria{.max_steps = 10'000, .rel_loss_change_tol = 1e-4, .max_step_below_tol = 20}}
///     stopper<"", "epoch">{stop_criteria{.max_epochs = 5}}
///
/// @tparam Loss the value whose change is watched: a scalar
/// @tparam Epoch the value that counts the epochs: a scalar. Nothing in the library counts epochs: the graph does
///
/// Targets are fixed once after each `begin` (that of the steps at the first session, that of the epochs, with
/// `restart_counting`, by the first value seen) and kept over recoveries. The loss is compared with that of the
/// previous step. A change from or to NaN is no small one.
///
/// **Order** looks at steps and seconds when a session is made and after each run, at values after each run.
/// **Errors** `invalid_argument` when the session is made: no criterion at all, one whose name is missing in the
/// template arguments, or `max_seconds` without a clock. **Stop** asks for one, with the criterion as its reason.
/// **Cost** a comparison a criterion and step; the values are computed only if their criterion is set, the clock is read
/// only if `max_seconds` is; no allocation.
/// **Source** the stop criteria of TensorFlow for Scala, as its documentation says; its code compares milliseconds with
/// `max_seconds`, never updates the loss to compare with, and moves the targets in each recovery.
template <fixed_string Loss = "", fixed_string Epoch = "">
class stopper {
  static constexpr bool has_loss = Loss.size() != 0;
  static constexpr bool has_epoch = Epoch.size() != 0;

 public:
  static constexpr bool real_time = true;

  constexpr explicit stopper(stop_criteria criteria) : criteria_(criteria) {}

  template <class Graph>
  constexpr void begin(Graph&) noexcept {
    state_ = {};
  }

  template <class Session>
  void after_create_session(Session& session, life& at) noexcept {
    if (!check<Session>(at)) return;
    if (!state_.fixed) {
      state_.fixed = true;
      if (__builtin_add_overflow(criteria_.max_steps, criteria_.restart_counting ? session.step() : 0, &state_.last_step)) {
        state_.last_step = INT64_MAX;
      }
      state_.started = session.ticks();
    }
    look(session, at, session.step());
  }

  /// Targets and the time are those of this training; how long the loss has stood still goes on after a resume.
  constexpr auto state() noexcept {
    return fields{field<"previous_loss">(state_.previous_loss), field<"below">(state_.below),
                  field<"has_previous">(state_.has_previous)};
  }

  template <class Context>
  constexpr auto before_run(Context&) const noexcept {
    bool const loss = has_loss && criteria_.watches_loss();
    bool const epoch = has_epoch && criteria_.max_epochs >= 0;
    if constexpr (has_loss && has_epoch) {
      return ask_if(loss || epoch, fetch<Loss>, fetch<Epoch>);
    } else if constexpr (has_loss) {
      return ask_if(loss, fetch<Loss>);
    } else if constexpr (has_epoch) {
      return ask_if(epoch, fetch<Epoch>);
    }
  }

  template <class Context>
  void after_run(Context& ctx) const noexcept {
    look(ctx.session(), ctx, ctx.step());
  }
  template <class Context, class Values>
    requires(has_loss || has_epoch)
  void after_run(Context& ctx, Values& values) noexcept {
    look(ctx.session(), ctx, ctx.step());
    if constexpr (has_epoch) {
      if (criteria_.max_epochs >= 0) look_at_epoch(ctx, static_cast<std::int64_t>(values[fetch<Epoch>]));
    }
    if constexpr (has_loss) {
      if (criteria_.watches_loss()) look_at_loss(ctx, static_cast<double>(values[fetch<Loss>]));
    }
  }

 private:
  struct memory {
    step_number last_step = 0;
    std::int64_t last_epoch = 0;
    std::uint64_t started = 0;
    double previous_loss = 0;
    int below = 0;
    bool fixed = false;
    bool epoch_fixed = false;
    bool has_previous = false;
  };

  template <class Session>
  bool check(life& at) const noexcept {
    stop_criteria const& set = criteria_;
    if (set.max_steps < 0 && set.max_epochs < 0 && set.max_seconds < 0 && !set.watches_loss()) {
      at.fail(error_kind::invalid_argument, "stopper: no criterion is set. Mend: stopper{stop_criteria{.max_steps = 1000}}");
      return false;
    }
    if (!has_epoch && set.max_epochs >= 0) {
      at.fail(error_kind::invalid_argument,
              "stopper: max_epochs needs a value that counts them. Mend: stopper<\"\", \"epoch\">{...}");
      return false;
    }
    if (!has_loss && set.watches_loss()) {
      at.fail(error_kind::invalid_argument, "stopper: a loss change needs a loss. Mend: stopper<\"loss\">{...}");
      return false;
    }
    if (!Session::has_clock && set.max_seconds >= 0) {
      at.fail(error_kind::invalid_argument,
              "stopper: max_seconds needs a clock. Mend: monitored(graph, options{with_clock{steady_clock_ticks{}}}, ...)");
      return false;
    }
    return true;
  }

  template <class Session>
  void look(Session const& session, life& at, step_number step) const noexcept {
    if (criteria_.max_steps >= 0 && step >= state_.last_step) {
      at.request_stop({"reached step {}", state_.last_step});
    }
    if constexpr (Session::has_clock) {
      if (criteria_.max_seconds >= 0 &&
          static_cast<double>(session.ticks() - state_.started) >=
              criteria_.max_seconds * static_cast<double>(session.ticks_per_second())) {
        at.request_stop({"{} seconds have passed", criteria_.max_seconds});
      }
    }
  }

  void look_at_epoch(life& at, std::int64_t epoch) noexcept {
    if (!state_.epoch_fixed) {
      state_.epoch_fixed = true;
      if (__builtin_add_overflow(criteria_.max_epochs, criteria_.restart_counting ? epoch : 0, &state_.last_epoch)) {
        state_.last_epoch = INT64_MAX;
      }
    }
    if (epoch >= state_.last_epoch) at.request_stop({"reached epoch {}", state_.last_epoch});
  }

  void look_at_loss(life& at, double loss) noexcept {
    double const difference = loss - state_.previous_loss;
    double const change = difference < 0 ? -difference : difference;
    double const size = state_.previous_loss < 0 ? -state_.previous_loss : state_.previous_loss;
    bool const still = state_.has_previous && (change < criteria_.abs_loss_change_tol ||
                                               change < criteria_.rel_loss_change_tol * size ||
                                               (change == 0 && criteria_.rel_loss_change_tol > 0));
    state_.previous_loss = loss;
    state_.has_previous = true;
    state_.below = still ? state_.below + 1 : 0;
    if (state_.below > criteria_.max_step_below_tol) {
      at.request_stop({"the loss has stood still at {} for {} steps", loss, state_.below});
    }
  }

  stop_criteria criteria_;
  memory state_;
};
stopper(stop_criteria) -> stopper<>;

TAUTLINE_END
