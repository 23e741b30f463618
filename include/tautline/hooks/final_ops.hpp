// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include <tautline/core/hook.hpp>
#include <tautline/core/run_result.hpp>

TAUTLINE_BEGIN
namespace detail {

/// One raw run in `end`; what goes wrong in it is told to `at`. `take` gets the result of a run that took place.
template <fixed_string... Names, class Session, class Take>
void run_final_ops(Session& session, life& at, Take take) {
  constexpr text no_input =
      "final_ops: the values need input, and the input has ended. Mend: fetch values that need none, such as variables";
#if TAUTLINE_EXCEPTIONS
  try {
#endif
    auto const result = session.run(fetch<Names>...);
    if (result) {
      take(result);
    } else if (result.end_of_input()) {
      at.fail(error_kind::out_of_range, no_input);
    } else {
      at.fail(result.error(), "final_ops: the run of the values failed");
    }
#if TAUTLINE_EXCEPTIONS
  } catch (exception const& thrown) {
    if (thrown.kind() != error_kind::out_of_range) throw;
    at.fail(error_kind::out_of_range, no_input);
  }
#endif
}

}  // namespace detail

/// What `final_ops<"loss">::then(callback)` returns: the result goes to the callback.
template <class Callback, fixed_string... Names>
class final_ops_then {
 public:
  static constexpr bool stateless = true;

  constexpr explicit final_ops_then(Callback callback) : callback_(static_cast<Callback&&>(callback)) {}

  template <class Session>
  void end(Session& session, life& at) {
    detail::run_final_ops<Names...>(session, at, [&](auto const& result) { callback_(result); });
  }

 private:
  [[no_unique_address]] Callback callback_;
};

/// Runs the session once more at the end, without hooks and without a step, and keeps the values.
///
///     auto session = monitored(graph, stop_at_step{1000}, final_ops<"accuracy">{});
///     session.run_to_completion(target<"train">);
///     session.close();
///     double accuracy = session.hook<final_ops<"accuracy">>().get<"accuracy">();
///
/// Numbers are kept as `double`. Anything else goes to a callback:
/// `final_ops<"weights">::then([&](auto const& result) { weights = result[fetch<"weights">]; })`.
///
/// **Order** in `end`: after success or the end of the input, not after an error.
/// **Errors** `out_of_range` if the values need input and there is none any more; what the run throws otherwise.
/// **Cost** one run; 8 bytes a value; no allocation.
/// **Source** tf.train.FinalOpsHook.
template <fixed_string... Names>
class final_ops {
  static_assert(sizeof...(Names) > 0, "tautline: final_ops needs the name of at least one value. Mend: write final_ops<\"loss\">");

 public:
  static constexpr bool stateless = true;

  /// @param callback gets what `session.run(fetch<Names>...)` gives: `result[fetch<"loss">]`
  template <class Callback>
  [[nodiscard]] static constexpr auto then(Callback callback) {
    return final_ops_then<Callback, Names...>(static_cast<Callback&&>(callback));
  }

  template <class Graph>
  constexpr void begin(Graph&) noexcept {
    ready_ = false;
  }
  template <class Session>
  void end(Session& session, life& at) {
    detail::run_final_ops<Names...>(session, at, [&](auto const& result) {
      std::size_t place = 0;
      ((kept_[place++] = number(result.template get<Names>())), ...);
      ready_ = true;
    });
  }

  /// Whether the values are there.
  [[nodiscard]] constexpr bool ready() const { return ready_; }
  /// Precondition: `ready()`.
  template <fixed_string Name>
  [[nodiscard]] constexpr double get() const {
    constexpr std::size_t place = place_of<Name>();
    static_assert(place < sizeof...(Names), "tautline: this final_ops does not have this name. Mend: use one of its names");
    return kept_[place];
  }

 private:
  template <class Value>
  static constexpr double number(Value const& value) {
    static_assert(std::is_arithmetic_v<Value>,
                  "tautline: final_ops keeps numbers. Mend: take other values by final_ops<...>::then(callback)");
    if constexpr (std::is_arithmetic_v<Value>) {
      return static_cast<double>(value);
    } else {
      return 0;
    }
  }
  template <fixed_string Name>
  static consteval std::size_t place_of() {
    std::size_t place = 0;
    bool found = false;
    ((found = found || Names == Name, place += found ? 0 : 1), ...);
    return place;
  }

  double kept_[sizeof...(Names)]{};
  bool ready_ = false;
};

TAUTLINE_END
