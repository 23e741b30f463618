// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include <tautline/hooks/detail/finite.hpp>
#include <tautline/hooks/on_bad_value.hpp>

TAUTLINE_BEGIN
namespace detail {

template <fixed_string Name, bool Finite>
inline constexpr auto spike_text = [] {
  static_text<Name.size() + 40> words;
  words.append(Name.characters);
  words.append(Finite ? " is {}, far above its average of {}" : " is {}");
  return words;
}();

}  // namespace detail

/// What a `spike_checker` calls a spike: a value that lies above the moving average of the ones before it by more than
/// `deviations` times their moving absolute deviation, by more than `margin` of the average's size, and by more than
/// `at_least`.
struct spike_limits {
  double deviations = 6;
  double margin = 0.1;        ///< a part of the average's size: small deviations of a value that stands still are none
  double at_least = 0;        ///< and by so much, whatever the average is: for values that may stand at zero
  double decay = 0.98;        ///< of both moving averages, a step; 1: they are those of all values
  std::int64_t warm_up = 50;  ///< values that are looked at before anything counts as a spike, at least one; not finite does at once
};

/// A `spike_checker` with its policy as a template parameter: what `spike_checker<"loss">::with(policy)` makes.
template <class Policy, fixed_string Name>
class basic_spike_checker : public detail::checking_hook<basic_spike_checker<Policy, Name>, Policy, fetches<Name>> {
  using base = detail::checking_hook<basic_spike_checker, Policy, fetches<Name>>;

  using policy_type = detail::bad_value_policy<Policy>;

 public:
  constexpr explicit basic_spike_checker(Policy policy, spike_limits limits = {}) : base(policy), limits_(limits) {}

  /// The averages, and what the policy counts.
  constexpr auto state() noexcept {
    if constexpr (lists_state<policy_type>) {
      return fields{field<"mean">(mean_), field<"deviation">(deviation_), field<"seen">(seen_), field<"policy">(policy())};
    } else {
      return fields{field<"mean">(mean_), field<"deviation">(deviation_), field<"seen">(seen_)};
    }
  }

 private:
  friend base;
  constexpr policy_type& policy() noexcept { return *this; }

  constexpr void start(life& at) noexcept {
    mean_ = 0, deviation_ = 0, seen_ = 0;
    bool const bounds = limits_.deviations >= 0 && limits_.margin >= 0 && limits_.at_least >= 0;
    if (!bounds || !(limits_.decay >= 0 && limits_.decay <= 1) || limits_.warm_up < 0) {
      at.fail(error_kind::invalid_argument, "spike_checker: .decay is from 0 to 1, all other limits are not negative");
    }
  }

  template <class Context, class Values>
  bool look(Context& ctx, Values& values) noexcept {
    using type = std::remove_cvref_t<decltype(values[fetch<Name>])>;
    static_assert(std::is_arithmetic_v<type>, "tautline: spike_checker looks at a number, and this value is none. Mend: "
                                              "fetch a reduction of it");
    if constexpr (std::is_arithmetic_v<type>) {
      return look_at(ctx, static_cast<double>(values[fetch<Name>]));
    } else {
      return true;
    }
  }
  template <class Context>
  bool look_at(Context& ctx, double value) noexcept {
    if (!detail::is_finite_number(value)) [[unlikely]] {
      this->bad(ctx, {detail::spike_text<Name, false>.characters, value});
      return false;
    }
    double const above = value - mean_;
    double const size = mean_ < 0 ? -mean_ : mean_;
    // a difference of the largest numbers has no place in an average
    bool const huge = !detail::is_finite_number(above);
    if (huge && above < 0) return true;
    // the first value has no average to be above of
    if (huge || (seen_ >= limits_.warm_up && seen_ > 0 && above > limits_.deviations * deviation_ && above > limits_.margin * size &&
                 above > limits_.at_least)) [[unlikely]] {
      this->bad(ctx, {detail::spike_text<Name, true>.characters, value, mean_});
      return false;
    }
    // The first values count fully: an average that began at zero would call everything a spike, and a deviation from
    // that zero nothing.
    ++seen_;
    double const weight = seen_ < warm_length() ? 1 / static_cast<double>(seen_) : 1 - limits_.decay;
    mean_ += weight * above;
    if (seen_ > 1) deviation_ += weight * ((above < 0 ? -above : above) - deviation_);
    return true;
  }
  [[nodiscard]] constexpr std::int64_t warm_length() const noexcept {
    constexpr std::int64_t always = 0x7fff'ffff'ffff'ffff;
    double const length = limits_.decay < 1 ? 1 / (1 - limits_.decay) : 1e18;
    return length < 1e18 ? static_cast<std::int64_t>(length) : always;
  }

  spike_limits limits_;
  double mean_ = 0;
  double deviation_ = 0;
  std::int64_t seen_ = 0;
};

/// Looks at a scalar in every run, before the run changes a variable where the session can stage a run, and acts when it
/// leaps up: as `nan_checker` does about what is not finite.
///
///     spike_checker<"loss">::with(skip_at_most{2}, {.deviations = 8})
///     spike_checker<"loss">::with(roll_back_at_most{3, 0.5})
///
/// A spike does not go into the averages. What is not finite is one.
///
/// @tparam Name of a scalar of the graph
/// **Order** and **Errors** as those of `nan_checker`: "loss is 40, far above its average of 0.31"; `invalid_argument` in
/// `begin` for limits that are negative, and for a decay outside of [0, 1].
/// **Cost** the fetch of the value and a dozen floating-point operations; 64 to 96 bytes; no allocation.
/// **Source** the spike detection of trainers in Python, which looks after the update.
template <fixed_string Name>
class spike_checker : public basic_spike_checker<on_nan, Name> {
 public:
  constexpr explicit spike_checker(on_nan policy = on_nan::fail, spike_limits limits = {})
      : basic_spike_checker<on_nan, Name>(policy, limits) {}

  template <class Policy>
  [[nodiscard]] static constexpr auto with(Policy policy, spike_limits limits = {}) {
    return basic_spike_checker<Policy, Name>(policy, limits);
  }
};

TAUTLINE_END
