// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/hook.hpp>
#include <tautline/core/run_context.hpp>
#include <tautline/core/state.hpp>

// What a check does about a value that must not reach the variables. @see nan_checker, spike_checker

TAUTLINE_BEGIN

/// Fails, or asks for a stop. Where the session has a gate, the update of that run does not take place.
enum class on_nan : std::uint8_t {
  fail,  ///< an error of the kind `nan`: no `end`, the session closes
  stop,  ///< a stop in good order, with `end`
};

/// Leaves the update out and goes on; fails at the next one after so many in a row. The skipped run counts as a step, its
/// input has been taken. Needs a session that can stage a run.
struct skip_at_most {
  int in_a_row;
};

/// Goes back to the latest checkpoint, at most so many times in this training, and makes the learning rate smaller each
/// time: the factor, 1 at first, is published as `Scale` for a `learning_rate_schedule`. Fails at the next one. Needs a
/// session that can stage a run, and `options{restore_from{…}}`.
template <fixed_string Scale = "rate_scale">
struct roll_back_at_most {
  int times;
  double shrink = 0.5;
};

namespace detail {

/// What a check of some policy remembers, and how it acts.
template <class Policy>
class bad_value_policy;

template <>
class bad_value_policy<on_nan> {
 public:
  static constexpr bool stateless = true;
  constexpr explicit bad_value_policy(on_nan policy) : policy_(policy) {}

  constexpr void begin(life&) noexcept {}
  constexpr void good() noexcept {}
  template <class Context>
  void bad(Context& ctx, text why) noexcept {
    if (policy_ == on_nan::fail) {
      ctx.fail(error_kind::nan, why);
    } else {
      ctx.request_stop(why);
      if constexpr (Context::has_gate) ctx.veto();
    }
  }

 private:
  on_nan policy_;
};

template <>
class bad_value_policy<skip_at_most> {
 public:
  static constexpr bool needs_gate = true;
  constexpr explicit bad_value_policy(skip_at_most policy) : most_(policy.in_a_row) {}

  constexpr void begin(life& at) noexcept {
    in_a_row_ = 0, skipped_ = 0;
    if (most_ < 0) at.fail(error_kind::invalid_argument, "skip_at_most: the number in a row is not negative");
  }
  constexpr void good() noexcept { in_a_row_ = 0; }
  template <class Context>
  void bad(Context& ctx, text why) noexcept {
    if (in_a_row_ >= most_) return ctx.fail(error_kind::nan, why);
    ++in_a_row_;
    ++skipped_;
    ctx.veto();
  }
  constexpr auto state() noexcept { return fields{field<"in_a_row">(in_a_row_), field<"skipped">(skipped_)}; }

  /// Updates that were left out since `begin`, and up to the last run without a gap.
  [[nodiscard]] constexpr std::int64_t skipped() const noexcept { return skipped_; }
  [[nodiscard]] constexpr int skipped_in_a_row() const noexcept { return in_a_row_; }

 private:
  int most_;
  int in_a_row_ = 0;
  std::int64_t skipped_ = 0;
};

template <fixed_string Scale>
class bad_value_policy<roll_back_at_most<Scale>> {
 public:
  static constexpr bool needs_gate = true;
  static constexpr bool needs_restorer = true;
  using provides = tautline::provides<Scale, double>;
  constexpr explicit bad_value_policy(roll_back_at_most<Scale> policy) : policy_(policy) {}

  constexpr void begin(life& at) noexcept {
    rolled_back_ = 0, scale_ = 1;
    if (policy_.times < 0 || !(policy_.shrink > 0 && policy_.shrink <= 1)) {
      at.fail(error_kind::invalid_argument, "roll_back_at_most: the number of times is not negative, .shrink above 0 and at most 1");
    }
  }
  constexpr void good() noexcept {}
  template <class Context>
  void bad(Context& ctx, text why) {
    if (rolled_back_ >= policy_.times) return ctx.fail(error_kind::nan, why);
    ++rolled_back_;
    scale_ *= policy_.shrink;
    if constexpr (Context::has_restorer) ctx.roll_back(why);
  }
  template <class Context>
  void publish(Context& ctx) const noexcept {
    ctx.template publish<Scale>(scale_);
  }
  /// Not taken back with the variables: else it would go back for ever.
  constexpr auto state() noexcept {
    return fields{kept_field<"rolled_back">(rolled_back_), kept_field<"rate_scale">(scale_)};
  }

  /// How often the training went back since `begin`, and the factor of the learning rate.
  [[nodiscard]] constexpr int rolled_back() const noexcept { return rolled_back_; }
  [[nodiscard]] constexpr double rate_scale() const noexcept { return scale_; }

 private:
  roll_back_at_most<Scale> policy_;
  int rolled_back_ = 0;
  double scale_ = 1;
};

/// Base of the checks: a hook of the category `check` whose `look(ctx, values)` is the matter of the derived class.
/// A run that has been vetoed before is not looked at: nothing of it reaches the variables.
/// `Derived::look` calls `bad(ctx, why)` at most once and returns whether all was well.
template <class Derived, class Policy, class Asks>
class checking_hook : public bad_value_policy<Policy> {
  using policy = bad_value_policy<Policy>;
  static constexpr bool publishes = requires { typename policy::provides; };

 public:
  using category = check;
  using asks = Asks;
  static constexpr bool real_time = true;

  constexpr explicit checking_hook(Policy given) : policy(given) {}

  template <class Graph>
  constexpr void begin(Graph&, life& at) noexcept {
    policy::begin(at);
    derived().start(at);
  }
  template <class Context>
  constexpr Asks before_run(Context& ctx) const noexcept {
    if constexpr (publishes) policy::publish(ctx);
    return asked(static_cast<Asks*>(nullptr));
  }
  template <class Context, class Values>
  void gate(Context& ctx, Values& values) noexcept {
    if (ctx.vetoed()) return;  // another check has dealt with it
    judge(ctx, values);
  }
  /// In sessions without a gate: after the update.
  template <class Context, class Values>
  void after_run(Context& ctx, Values& values) noexcept {
    if constexpr (!Context::has_gate) judge(ctx, values);
  }

 protected:
  /// Forgets what the derived class has seen, and says what is wrong with its numbers. Hidden where it has any.
  static constexpr void start(life&) noexcept {}
  template <class Context, class Values>
  void judge(Context& ctx, Values& values) noexcept {
    if (derived().look(ctx, values)) [[likely]] policy::good();
  }

 private:
  constexpr Derived& derived() noexcept { return static_cast<Derived&>(*this); }
  template <fixed_string... Names>
  static constexpr Asks asked(fetches<Names...>*) noexcept {
    return Asks(fetch<Names>...);
  }
};

}  // namespace detail
TAUTLINE_END
