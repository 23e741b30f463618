// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/hook.hpp>
#include <tautline/core/run_context.hpp>
#include <tautline/hooks/detail/each_run.hpp>
#include <tautline/hooks/detail/finite.hpp>

TAUTLINE_BEGIN

/// When a value that does not improve ends a training. A *look* is a value that the hook is shown: one a run that is due,
/// or one a publication.
///
///     stop_if_no_decrease<"validation/loss">{{.patience = 5, .min_delta = 1e-4}}
struct improvement_rule {
  static constexpr std::int64_t unlimited = -1;

  /// Looks in a row without improvement: with `patience = p` it stops at the p-th of them.
  std::int64_t patience = unlimited;
  /// Steps without improvement, as in the original estimators: it stops at the first look that many steps, or more, after
  /// the step of the best value. With both limits the first that is reached counts.
  step_number max_steps = unlimited;
  double min_delta = 0;      ///< an improvement is one by more than this
  bool relative = false;     ///< `min_delta` is a part of the best value's size, not a difference
  step_number min_steps = 0; ///< values of earlier steps are not looked at at all
  std::int64_t warm_up = 0;  ///< of so many first looks a bad one does not count; a good one is remembered
};

/// When a value that is beyond a bound ends a training.
///
///     stop_if_above<"validation/accuracy">{0.95}
///     stop_if_below<"loss">{{.bound = 0.01, .patience = 10, .min_steps = 1000}}
struct bound_rule {
  double bound;              ///< strictly above, or below, of it
  std::int64_t patience = 1; ///< looks in a row that must be beyond the bound
  step_number min_steps = 0; ///< values of earlier steps are not looked at at all
};

namespace detail {

enum class direction : std::uint8_t { down, up };

template <fixed_string Name>
constexpr auto words_about(char const* words) {
  static_text<Name.size() + 48> whole;
  whole.append(Name.characters);
  whole.append(words);
  return whole;
}
template <fixed_string Name, direction Wanted>
inline constexpr auto no_improvement_text =
    words_about<Name>(Wanted == direction::down ? " has not decreased below {} of step {}" : " has not increased above {} of step {}");
template <fixed_string Name>
inline constexpr auto never_finite_text = words_about<Name>(" has never been finite in {} looks");
template <fixed_string Name, direction Beyond>
inline constexpr auto beyond_text = words_about<Name>(Beyond == direction::down ? " is {}, below {}" : " is {}, above {}");

/// What the four rules have in common: what they ask for and when they look.
template <fixed_string Name, class Trigger, class Rule>
class watched_value {
 public:
  using asks = fetches<Name>;
  static constexpr bool real_time = true;

  template <class Context>
  constexpr auto before_run([[maybe_unused]] Context& ctx) const noexcept {
    if constexpr (std::is_same_v<Trigger, each_run>) {
      return asks(fetch<Name>);
    } else {
      return ask_if(ctx.due(), fetch<Name>);
    }
  }
  template <class Context, class Values>
  constexpr void after_run(Context& ctx, Values& values) noexcept {
    auto const& value = values[fetch<Name>];
    using value_type = std::remove_cvref_t<decltype(value)>;
    static_assert(std::is_arithmetic_v<value_type>,
                  "tautline: early stopping looks at a number. Mend: name a scalar, or add an op that makes one of the value");
    if constexpr (std::is_arithmetic_v<value_type>) {
      double const number = static_cast<double>(value);
      if (ctx.step() >= static_cast<Rule*>(this)->first_step()) static_cast<Rule*>(this)->look(ctx, number);
    }
  }

  [[no_unique_address]] Trigger trigger;

 protected:
  constexpr explicit watched_value(Trigger given) : trigger(static_cast<Trigger&&>(given)) {}
};

/// @tparam Wanted where the value should go
template <fixed_string Name, direction Wanted, class Trigger>
class stop_if_no_improvement : public watched_value<Name, Trigger, stop_if_no_improvement<Name, Wanted, Trigger>> {
  using base = watched_value<Name, Trigger, stop_if_no_improvement>;
  friend base;

 public:
  constexpr explicit stop_if_no_improvement(improvement_rule rule, Trigger given = {})
      : base(static_cast<Trigger&&>(given)), rule_(rule) {}

  template <class Graph>
  constexpr void begin(Graph&, life& at) noexcept {
    kept_ = {};
    auto const set = [](std::int64_t limit) { return limit != improvement_rule::unlimited; };
    if (!set(rule_.patience) && !set(rule_.max_steps)) {
      at.fail(error_kind::invalid_argument, "early stopping without a limit never stops. Mend: give .patience, or .max_steps");
    } else if ((set(rule_.patience) && rule_.patience < 1) || (set(rule_.max_steps) && rule_.max_steps < 1)) {
      at.fail(error_kind::invalid_argument, "early stopping: .patience and .max_steps are at least 1");
    } else if (!(rule_.min_delta >= 0) || rule_.min_steps < 0 || rule_.warm_up < 0) {
      at.fail(error_kind::invalid_argument, "early stopping: .min_delta, .min_steps and .warm_up are not negative");
    }
  }
  constexpr auto state() noexcept {
    return fields{field<"best">(kept_.best),   field<"best_step">(kept_.best_step), field<"since">(kept_.since),
                  field<"bad_looks">(kept_.bad), field<"looks">(kept_.looks),       field<"has_best">(kept_.has_best)};
  }

  /// Whether a finite value has been seen; the best one, and its step.
  [[nodiscard]] constexpr bool has_best() const noexcept { return kept_.has_best; }
  [[nodiscard]] constexpr double best() const noexcept { return kept_.best; }
  [[nodiscard]] constexpr step_number best_step() const noexcept { return kept_.best_step; }
  /// Looks in a row without improvement, and all looks.
  [[nodiscard]] constexpr std::int64_t bad_looks() const noexcept { return kept_.bad; }
  [[nodiscard]] constexpr std::int64_t looks() const noexcept { return kept_.looks; }

 private:
  struct memory {
    double best = 0;
    step_number best_step = 0;
    step_number since = 0;  // from where steps without improvement count
    std::int64_t bad = 0;
    std::int64_t looks = 0;
    bool has_best = false;
  };

  [[nodiscard]] constexpr step_number first_step() const noexcept { return rule_.min_steps; }
  [[nodiscard]] constexpr bool improves(double const& value) const noexcept {
    if (!is_finite_number(value)) return false;  // an infinite best could never be beaten
    if (!kept_.has_best) return true;
    double const size = kept_.best < 0 ? -kept_.best : kept_.best;
    double const margin = rule_.relative ? rule_.min_delta * size : rule_.min_delta;
    return Wanted == direction::down ? value < kept_.best - margin : value > kept_.best + margin;
  }
  constexpr void look(life& at, double value) noexcept {
    if (kept_.looks++ == 0) kept_.since = at.step();
    if (improves(value)) {
      kept_.best = value;
      kept_.best_step = kept_.since = at.step();
      kept_.has_best = true;
      kept_.bad = 0;
    } else if (kept_.looks <= rule_.warm_up) {
      kept_.since = at.step();
    } else {
      ++kept_.bad;
      bool const patient = rule_.patience == improvement_rule::unlimited || kept_.bad < rule_.patience;
      bool const early = rule_.max_steps == improvement_rule::unlimited || at.step() - kept_.since < rule_.max_steps;
      if (!patient || !early) stop(at);
    }
  }
  TAUTLINE_COLD void stop(life& at) const noexcept {
    if (kept_.has_best) {
      at.request_stop({no_improvement_text<Name, Wanted>.characters, kept_.best, kept_.best_step});
    } else {
      at.request_stop({never_finite_text<Name>.characters, kept_.looks});
    }
  }

  improvement_rule rule_;
  memory kept_;
};

template <fixed_string Name, direction Beyond, class Trigger>
class stop_if_beyond : public watched_value<Name, Trigger, stop_if_beyond<Name, Beyond, Trigger>> {
  using base = watched_value<Name, Trigger, stop_if_beyond>;
  friend base;

 public:
  constexpr explicit stop_if_beyond(double bound, Trigger given = {}) : stop_if_beyond(bound_rule{bound}, static_cast<Trigger&&>(given)) {}
  constexpr explicit stop_if_beyond(bound_rule rule, Trigger given = {}) : base(static_cast<Trigger&&>(given)), rule_(rule) {}

  template <class Graph>
  constexpr void begin(Graph&, life& at) noexcept {
    beyond_ = 0;
    if (rule_.bound != rule_.bound || rule_.patience < 1 || rule_.min_steps < 0) {
      at.fail(error_kind::invalid_argument, "early stopping: .bound is a number, .patience at least 1, .min_steps not negative");
    }
  }
  constexpr auto state() noexcept { return fields{field<"beyond">(beyond_)}; }

  /// Looks in a row that were beyond the bound.
  [[nodiscard]] constexpr std::int64_t looks_beyond() const noexcept { return beyond_; }

 private:
  [[nodiscard]] constexpr step_number first_step() const noexcept { return rule_.min_steps; }
  constexpr void look(life& at, double const& value) noexcept {
    bool const beyond = !is_nan(value) && (Beyond == direction::down ? value < rule_.bound : value > rule_.bound);
    beyond_ = beyond ? beyond_ + 1 : 0;
    if (beyond_ >= rule_.patience) at.request_stop({beyond_text<Name, Beyond>.characters, value, rule_.bound});
  }
  /// By the bits: -ffast-math takes every number for finite.
  static constexpr bool is_nan(double const& value) {
    return (__builtin_bit_cast(std::uint64_t, value) & 0x7fffffffffffffffU) > 0x7ff0000000000000U;
  }

  bound_rule rule_;
  std::int64_t beyond_ = 0;
};

}  // namespace detail

/// Stops when a value that should fall no longer does.
///
///     stop_if_no_decrease<"loss">{{.patience = 100}}
///     stop_if_no_decrease<"validation/loss">{{.patience = 5, .min_delta = 0.01, .relative = true, .warm_up = 3}}
///     stop_if_no_decrease<"loss", every_steps>{{.max_steps = 1000}, every_steps{50}}
///
/// The first finite value is the best so far; a later one improves on it if it is lower by more than `min_delta`, and is
/// then the best. NaN and infinite values never improve: such a look is a bad one.
///
/// `best()`, `best_step()`, `bad_looks()` and `looks()` can be read at any time, also after the training.
///
/// @tparam Name a number of the graph, or one that another hook publishes: then it looks in runs with a publication only
/// @tparam Trigger when it looks; in every run by default
/// **Order** after the run. **Errors** `invalid_argument` in `begin`, for a rule without a limit, or with a negative one.
/// **Stop** with "loss has not decreased below 0.25 of step 1200"; the event in progress goes on to all hooks.
/// **Cost** the fetch, and a few comparisons a look; no allocation. **State** the best value, its step, and the counts: a
/// resumed training goes on counting, `begin` forgets.
/// **Source** `stop_if_no_decrease_hook` of tf.estimator, which knows steps only, no margin, and reads event files.
template <fixed_string Name, trigger Trigger = detail::each_run>
class stop_if_no_decrease : public detail::stop_if_no_improvement<Name, detail::direction::down, Trigger> {
 public:
  using detail::stop_if_no_improvement<Name, detail::direction::down, Trigger>::stop_if_no_improvement;
};

/// Stops when a value that should rise no longer does: `stop_if_no_increase<"accuracy">{{.patience = 5}}`.
/// @see stop_if_no_decrease
template <fixed_string Name, trigger Trigger = detail::each_run>
class stop_if_no_increase : public detail::stop_if_no_improvement<Name, detail::direction::up, Trigger> {
 public:
  using detail::stop_if_no_improvement<Name, detail::direction::up, Trigger>::stop_if_no_improvement;
};

/// Stops when a value is above a bound: `stop_if_above<"validation/accuracy">{0.95}`, or several looks in a row:
/// `{{.bound = 0.95, .patience = 3, .min_steps = 1000}}`. NaN is neither above nor below: it breaks a row.
///
/// **Stop** with "validation/accuracy is 0.97, above 0.95". @see stop_if_no_decrease
/// **Source** `stop_if_higher_hook` of tf.estimator.
template <fixed_string Name, trigger Trigger = detail::each_run>
class stop_if_above : public detail::stop_if_beyond<Name, detail::direction::up, Trigger> {
 public:
  using detail::stop_if_beyond<Name, detail::direction::up, Trigger>::stop_if_beyond;
};

/// Stops when a value is below a bound. @see stop_if_above
template <fixed_string Name, trigger Trigger = detail::each_run>
class stop_if_below : public detail::stop_if_beyond<Name, detail::direction::down, Trigger> {
 public:
  using detail::stop_if_beyond<Name, detail::direction::down, Trigger>::stop_if_beyond;
};

TAUTLINE_END
