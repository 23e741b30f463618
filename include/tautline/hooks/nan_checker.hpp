// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <tautline/hooks/detail/finite.hpp>
#include <tautline/hooks/on_bad_value.hpp>

TAUTLINE_BEGIN

/// Every `nan_checker`, whatever it looks at, for relations: `using runs_after = hooks<nan_checker_tag>;`
struct nan_checker_tag {};

namespace detail {

template <fixed_string Name, bool Range>
inline constexpr auto not_finite_text = [] {
  static_text<Name.size() + 12> words;
  words.append(Name.characters);
  words.append(Range ? "[{}] is {}" : " is {}");
  return words;
}();

}  // namespace detail

/// A `nan_checker` with its policy as a template parameter: what `nan_checker<"loss">::with(policy)` makes.
template <class Policy, fixed_string... Names>
class basic_nan_checker : public detail::checking_hook<basic_nan_checker<Policy, Names...>, Policy, fetches<Names...>> {
  static_assert(sizeof...(Names) > 0, "tautline: nan_checker needs the name of at least one value. Mend: write nan_checker<\"loss\">");
  using base = detail::checking_hook<basic_nan_checker, Policy, fetches<Names...>>;

 public:
  using tags = hooks<nan_checker_tag>;

  constexpr explicit basic_nan_checker(Policy policy) : base(policy) {}

 private:
  friend base;
  template <class Context, class Values>
  bool look(Context& ctx, Values& values) noexcept {
    return (true && ... && look_at<Names>(ctx, values[fetch<Names>]));
  }
  template <fixed_string Name, class Context, class Value>
  bool look_at(Context& ctx, Value const& value) noexcept {
    if (detail::all_finite(value)) [[likely]] return true;
    if constexpr (!std::is_floating_point_v<Value>) {
      detail::not_finite const found = detail::find_not_finite(value);
      this->bad(ctx, {detail::not_finite_text<Name, true>.characters, found.index, found.value});
    } else {
      this->bad(ctx, {detail::not_finite_text<Name, false>.characters, value});
    }
    return false;
  }
};

/// Looks at values in every run, before the run changes a variable where the session can stage a run (`static_graph`),
/// else after it. What it does about one that is NaN or infinite is its policy:
///
///     nan_checker<"loss">{}                                     // fails
///     nan_checker<"loss", "gradient">{on_nan::stop}             // stops in good order
///     nan_checker<"loss">::with(skip_at_most{3})                // leaves that update out, three times in a row at most
///     nan_checker<"loss">::with(roll_back_at_most{2, 0.5})      // goes back to the latest checkpoint with half the rate
///
/// A value is a floating-point number, an array or any range of them, nested as deep as you like, or has `allFinite()`
/// as Eigen's do. The names are looked at in their order; the first that is not finite counts.
///
/// @tparam Names of values of the graph; in sessions without a gate also of values that another hook publishes (then in
/// runs where all of them are)
/// **Order** `gate` of every run, or `after_run`. It is of the category `check`: before every saver, whatever the order of
/// the arguments, so that a poisoned state is not saved.
/// **Errors** `nan`, "loss is nan" or "gradient[3] is inf", with the step and the hook; `invalid_argument` in `begin` for a
/// policy with a negative number, or a `shrink` outside of (0, 1]. **Stop** with that as reason.
/// What was skipped or rolled back is counted: `skipped()`, `skipped_in_a_row()`, `rolled_back()`, `rate_scale()`.
/// **Cost** the fetch of the values, and one look at each number; 1 byte (16 with a bound, 32 with a roll-back); no allocation.
/// **Source** tf.train.NanTensorHook, which looks at one scalar after the update and lets infinite values pass. Skipping a
/// bounded number of updates is optax's `apply_if_finite`, going back with a smaller rate dlib's trainer's.
template <fixed_string... Names>
class nan_checker : public basic_nan_checker<on_nan, Names...> {
 public:
  constexpr explicit nan_checker(on_nan policy = on_nan::fail) : basic_nan_checker<on_nan, Names...>(policy) {}

  template <class Policy>
  [[nodiscard]] static constexpr auto with(Policy policy) {
    return basic_nan_checker<Policy, Names...>(policy);
  }
};

TAUTLINE_END
