// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <type_traits>

#include <tautline/core/fixed_string.hpp>

TAUTLINE_BEGIN
namespace detail {

// How a check at compile time speaks. It returns a verdict: `fine{}`, or a reason, which is an empty struct whose name
// and template arguments are what the compiler prints beside the message. Nothing is said until the outermost function,
// the one that the user wrote, calls `say()`: so the message stands on top, and no check is heard after the first.

struct fine {
  static constexpr bool good = true;
  static consteval void say() {}
  /// The first of two verdicts that is not fine.
  template <class Second>
  friend consteval Second operator|(fine, Second second) {
    return second;
  }
};
/// Base of every reason.
struct reason {
  static constexpr bool good = false;
  template <std::derived_from<reason> First, class Second>
  friend consteval First operator|(First first, Second) {
    return first;
  }
};
/// The reason has been told elsewhere.
struct heard : reason {
  static consteval void say() {}
};

/// The first of many verdicts that is not fine. Mostly all are: then no `|` has to be looked up between each two of them.
template <class... Verdicts>
consteval auto all_fine(Verdicts... verdicts) {
  if constexpr ((Verdicts::good && ...)) {
    return fine{};
  } else {
    return (fine{} | ... | verdicts);
  }
}

/// `fine_or<good, reason>()`: a type, not a function, since it is asked for many times in each hook.
template <bool Good>
struct verdict_if {
  template <class Reason>
  using or_else = fine;
};
template <>
struct verdict_if<false> {
  template <class Reason>
  using or_else = Reason;
};
template <bool Good, class Reason>
using fine_or = typename verdict_if<Good>::template or_else<Reason>;

/// What a rejected call gives. It takes every further call, so that the one message stays the only one.
struct rejected {
#define TAUTLINE_TAKES(name)                   \
  template <class... Types>                    \
  constexpr rejected name(auto&&...) const {   \
    return {};                                 \
  }                                            \
  template <fixed_string... Names>             \
    requires(sizeof...(Names) > 0)             \
  constexpr rejected name(auto&&...) const {   \
    return {};                                 \
  }
  // a session's
  TAUTLINE_TAKES(run)
  TAUTLINE_TAKES(try_run)
  TAUTLINE_TAKES(run_without_hooks)
  TAUTLINE_TAKES(run_with)
  TAUTLINE_TAKES(run_to_completion)
  TAUTLINE_TAKES(try_run_to_completion)
  TAUTLINE_TAKES(run_steps)
  TAUTLINE_TAKES(run_for)
  TAUTLINE_TAKES(steps)
  TAUTLINE_TAKES(step)
  TAUTLINE_TAKES(evaluate)
  TAUTLINE_TAKES(should_stop)
  TAUTLINE_TAKES(request_stop)
  TAUTLINE_TAKES(stop)
  TAUTLINE_TAKES(status)
  TAUTLINE_TAKES(attached_errors)
  TAUTLINE_TAKES(completed_steps)
  TAUTLINE_TAKES(overruns)
  TAUTLINE_TAKES(is_open)
  TAUTLINE_TAKES(close)
  TAUTLINE_TAKES(try_close)
  TAUTLINE_TAKES(abandon)
  TAUTLINE_TAKES(hook)
  TAUTLINE_TAKES(raw)
  TAUTLINE_TAKES(backend)
  TAUTLINE_TAKES(frame_bytes_used)
  // a result's and a context's
  TAUTLINE_TAKES(end_of_input)
  TAUTLINE_TAKES(error)
  TAUTLINE_TAKES(get)
  TAUTLINE_TAKES(has)
  TAUTLINE_TAKES(value)
  TAUTLINE_TAKES(session)
  // a graph's
  TAUTLINE_TAKES(variable)
  TAUTLINE_TAKES(placeholder)
  TAUTLINE_TAKES(source)
  TAUTLINE_TAKES(op)
  TAUTLINE_TAKES(update)
  TAUTLINE_TAKES(step_target)
  // a range's
  TAUTLINE_TAKES(begin)
  TAUTLINE_TAKES(end)
  TAUTLINE_TAKES(size)
#undef TAUTLINE_TAKES

  constexpr rejected operator*() const { return {}; }
  constexpr rejected operator-() const { return {}; }
  constexpr rejected operator++() const { return {}; }
  constexpr rejected const* operator->() const { return this; }
  constexpr rejected operator[](auto const&) const { return {}; }
  /// Anything that somebody wants it to be.
  template <class Value>
  constexpr operator Value() const {  // NOLINT(google-explicit-constructor)
    __builtin_trap();
  }

#define TAUTLINE_TAKES(result, symbol)                                     \
  template <class Other>                                                   \
  friend constexpr result operator symbol(rejected, Other const&) {        \
    return result{};                                                       \
  }                                                                        \
  template <class Other>                                                   \
    requires(!std::is_same_v<Other, rejected>)                             \
  friend constexpr result operator symbol(Other const&, rejected) {        \
    return result{};                                                       \
  }
  TAUTLINE_TAKES(rejected, +)
  TAUTLINE_TAKES(rejected, -)
  TAUTLINE_TAKES(rejected, *)
  TAUTLINE_TAKES(rejected, /)
  TAUTLINE_TAKES(rejected, |)
  TAUTLINE_TAKES(bool, <)
  TAUTLINE_TAKES(bool, >)
  TAUTLINE_TAKES(bool, <=)
  TAUTLINE_TAKES(bool, >=)
  TAUTLINE_TAKES(bool, ==)
  TAUTLINE_TAKES(bool, !=)
#undef TAUTLINE_TAKES
};

}  // namespace detail
TAUTLINE_END
