// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <tautline/core/hook.hpp>
#include <tautline/core/run_context.hpp>
#include <tautline/hooks/detail/finite.hpp>

TAUTLINE_BEGIN

/// What a `nan_checker` does about a value that is not finite.
enum class on_nan : std::uint8_t {
  fail,  ///< an error of the kind `nan`: no `end`, the session closes
  stop,  ///< a stop in good order, with `end`
};

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

/// Looks at values in every run, and fails, or asks for a stop, when one is NaN or infinite.
///
///     auto session = monitored(graph, nan_checker<"loss">{});
///     auto session = monitored(graph, nan_checker<"loss", "gradient">{on_nan::stop});
///
/// A value is a floating-point number, an array or any range of them, nested as deep as you like, or has `allFinite()`
/// as Eigen's do. The names are looked at in their order; the first that is not finite counts.
///
/// @tparam Names of values of the graph, or of values that another hook publishes (then in runs where all of them are)
/// **Order** `after_run` of every run. It is of the category `check`: before every saver, whatever the order of the
/// arguments, so that a poisoned state is not saved.
/// **Errors** `nan`, "loss is nan" or "gradient[3] is inf", with the step and the hook. **Stop** with that as reason.
/// **Cost** the fetch of the values, and one look at each number; 1 byte; no allocation.
/// **Source** tf.train.NanTensorHook, which looks at one scalar and lets infinite values pass.
template <fixed_string... Names>
class nan_checker {
  static_assert(sizeof...(Names) > 0, "tautline: nan_checker needs the name of at least one value. Mend: write nan_checker<\"loss\">");

 public:
  using category = check;
  using tags = hooks<nan_checker_tag>;
  using asks = fetches<Names...>;
  static constexpr bool stateless = true;
  static constexpr bool real_time = true;

  constexpr explicit nan_checker(on_nan policy = on_nan::fail) : policy_(policy) {}

  template <class Context>
  constexpr asks before_run(Context&) const noexcept {
    return asks(fetch<Names>...);
  }
  template <class Context, class Values>
  void after_run(Context& ctx, Values& values) const {
    (void)(true && ... && look<Names>(ctx, values[fetch<Names>]));
  }

 private:
  template <fixed_string Name, class Value>
  bool look(life& at, Value const& value) const {
    if (detail::all_finite(value)) [[likely]] return true;
    detail::not_finite const found = detail::find_not_finite(value);
    constexpr bool range = !std::is_floating_point_v<Value>;
    if constexpr (range) {
      act(at, {detail::not_finite_text<Name, true>.characters, found.index, found.value});
    } else {
      act(at, {detail::not_finite_text<Name, false>.characters, found.value});
    }
    return false;
  }
  void act(life& at, text why) const noexcept {
    if (policy_ == on_nan::fail) {
      at.fail(error_kind::nan, why);
    } else {
      at.request_stop(why);
    }
  }

  on_nan policy_;
};

TAUTLINE_END
