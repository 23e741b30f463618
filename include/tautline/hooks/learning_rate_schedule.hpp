// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <tautline/core/hook.hpp>
#include <tautline/core/run_context.hpp>
#include <tautline/hooks/detail/elementary.hpp>
#include <tautline/hooks/detail/restartable.hpp>

TAUTLINE_BEGIN

/// Rates as functions of the step of the run in progress, the first of which is 1. All are constant expressions.
namespace schedules {

/// Always the same.
struct constant {
  double rate;
  constexpr double operator()(step_number) const noexcept { return rate; }
};

/// Times `factor` after each `every` steps: steps 1 to `every` have `initial`.
struct step_decay {
  double initial;
  double factor = 0.1;
  step_number every = 1000;
  constexpr double operator()(step_number step) const noexcept {
    return initial * detail::whole_power(factor, every > 0 && step > 0 ? (step - 1) / every : 0);
  }
};

/// Smoothly times `factor` within each `every` steps: step 1 has `initial`, step `every + 1` has `initial * factor`.
/// **Cost** some 350 instructions a step; `cosine` takes half of that, the others a few.
struct exponential {
  double initial;
  double factor = 0.1;
  step_number every = 1000;
  constexpr double operator()(step_number step) const noexcept {
    step_number const length = every > 0 ? every : 1;
    step_number const done = step > 0 ? step - 1 : 0;
    return initial * detail::whole_power(factor, done / length) *
           detail::part_power(factor, static_cast<double>(done % length) / static_cast<double>(length));
  }
};

/// Half a wave of a cosine, after a straight rise: step `warm_up` is the first with `initial`, from there it falls to
/// `last`, which it has from step `steps + 1` on.
struct cosine {
  double initial;
  double last = 0;
  step_number steps = 1000;
  step_number warm_up = 0;
  constexpr double operator()(step_number step) const noexcept {
    if (step <= warm_up) return step > 0 ? initial * static_cast<double>(step) / static_cast<double>(warm_up) : 0;
    if (step > steps) return last;
    double const done = static_cast<double>(step - 1 - warm_up) / static_cast<double>(steps - warm_up);
    return last + (initial - last) * 0.5 * (1 + detail::cosine_of_half_turns(done));
  }
};

/// One piece of `piecewise`.
struct rate_from {
  step_number step;
  double rate;
};
/// From a step on a rate, until the next one: `piecewise{{{1, 0.1}, {1000, 0.01}, {5000, 0.001}}}`. Earlier steps than the
/// first listed one have its rate.
template <std::size_t Pieces>
struct piecewise {
  rate_from pieces[Pieces];

  constexpr double operator()(step_number step) const noexcept {
    double rate = pieces[0].rate;
    for (rate_from const& each : pieces) {
      if (each.step <= step) rate = each.rate;
    }
    return rate;
  }
};
template <std::size_t Pieces>
piecewise(rate_from const (&)[Pieces]) -> piecewise<Pieces>;

}  // namespace schedules

namespace detail {

/// What a schedule's rates are multiplied by. A base, so that a schedule without it has no callback for it.
template <fixed_string Scale, bool = Scale.size() != 0>
class rate_scale {
 public:
  template <class Context, class Values>
  constexpr void after_run(Context&, Values& values) noexcept {
    scale_ = static_cast<double>(values[fetch<Scale>]);
  }
  [[nodiscard]] constexpr double scale() const noexcept { return scale_; }

 protected:
  constexpr void restart() noexcept { scale_ = 1; }
  double scale_ = 1;
};
template <fixed_string Scale>
class rate_scale<Scale, false> {
 protected:
  constexpr void restart() noexcept {}
};

/// Stands for a hook that was refused, so that the one message about it stays the only one.
struct refused_schedule {
  static constexpr void close() {}
};

}  // namespace detail

/// What `learning_rate_schedule<"rate">(schedule)` returns. @see learning_rate_schedule
template <fixed_string Name, fixed_string Scale, class Schedule>
class learning_rate_schedule_hook : public detail::rate_scale<Scale> {
  static constexpr bool scaled = Scale.size() != 0;
  static constexpr bool keeps = lists_state<Schedule>;
  using rate_type = std::remove_cvref_t<decltype(std::declval<Schedule&>()(step_number{}))>;

 public:
  static constexpr bool real_time = noexcept(std::declval<Schedule&>()(step_number{}));
  /// Without a scale and with a schedule that cannot change itself there is nothing to save.
  static constexpr bool stateless =
      !scaled && !keeps && (tautline::stateless<Schedule> || std::invocable<Schedule const&, step_number>);

  constexpr explicit learning_rate_schedule_hook(Schedule schedule) : schedule_(static_cast<Schedule&&>(schedule)) {}

  template <class Graph>
  constexpr void begin(Graph&) {
    this->restart();
    schedule_.restart();
  }

  /// The scale outlives a roll-back: it is what the roll-back is to change. Then what the schedule lists, where it does.
  constexpr auto state() noexcept
    requires(scaled || keeps)
  {
    if constexpr (scaled && keeps) {
      return fields{kept_field<"scale">(this->scale_), field<"schedule">(schedule_.callable)};
    } else if constexpr (scaled) {
      return fields{kept_field<"scale">(this->scale_)};
    } else {
      return fields{field<"schedule">(schedule_.callable)};
    }
  }

  template <class Context>
  constexpr auto before_run(Context& ctx) noexcept(real_time) {
    last_ = schedule_.callable(ctx.step());
    if constexpr (scaled) {
      // at once where it was published in this run's before_run: in the first run after a roll-back, too
      if (auto const* const scale = ctx.template published<Scale>()) this->scale_ = static_cast<double>(*scale);
      last_ = static_cast<rate_type>(last_ * static_cast<rate_type>(this->scale_));
      return run_args{feed<Name>(last_), fetch<Scale>};
    } else {
      return feed<Name>(last_);
    }
  }
  /// What was fed last. With a scale there is `scale()`, too.
  [[nodiscard]] constexpr rate_type rate() const noexcept { return last_; }

 private:
  [[no_unique_address]] detail::restartable<Schedule> schedule_;
  rate_type last_{};
};

/// Feeds a learning rate, or anything else that follows the step, in every run.
///
///     learning_rate_schedule<"rate">(schedules::cosine{.initial = 0.1, .steps = 10'000, .warm_up = 500})
///     learning_rate_schedule<"rate">([](step_number step) noexcept { return step < 1000 ? 0.1F : 0.01F; })
///     learning_rate_schedule<"rate", "rate_scale">(schedules::constant{0.1})
///
/// @tparam Name the placeholder: a number
/// @tparam Scale a number that another hook publishes: the rate is multiplied by the last one seen, at once if it is
/// published in `before_run`, else from the next run on. It stays over a roll-back, so that a training which diverged
/// goes on more slowly.
/// @param schedule one of `schedules`, or any callable of the step of the run in progress that returns a number
/// **Order** the schedule is called once in each `before_run`: again where a run is repeated after a recovery, with the step
/// that it then is. **Errors** what the schedule throws. A second party that feeds the name is a `feed_conflict`.
/// **Cost** the schedule, a feed; no allocation. **State** the scale; that of a callable with `state()`,
/// which a second training finds as it was given, or after its `reset()`.
/// **Source** tf.keras.optimizers.schedules, as functions of the completed steps, `step - 1`.
template <fixed_string Name, fixed_string Scale = "", class Schedule>
constexpr auto learning_rate_schedule(Schedule schedule) {
  constexpr bool callable = requires {
    { schedule(step_number{}) } -> std::convertible_to<double>;
  };
  static_assert(callable, "tautline: learning_rate_schedule takes a callable of the step that returns a number. Mend: pass one, or "
                          "one of tautline::schedules");
  if constexpr (callable) {
    return learning_rate_schedule_hook<Name, Scale, Schedule>(static_cast<Schedule&&>(schedule));
  } else {
    return detail::refused_schedule{};
  }
}

TAUTLINE_END
