// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/check_run.hpp>
#include <tautline/core/monitored_session.hpp>
#include <tautline/core/near_miss.hpp>

// Rule 9: a hook that can never act does not compile. One consteval function for each reason; its template arguments
// are what the compiler prints beside the message. They run in the order in which a reader would want to hear of them,
// and the first that fails is the only one that is heard.

TAUTLINE_BEGIN
namespace detail {

// --- the hook alone -------------------------------------------------------------------------------------------------

template <class Hook, bool Moved>
consteval bool hook_is_moved() {
  static_assert(Moved,
                "tautline: a hook must be moved into the session, here it would be copied, and the copy would act while "
                "the original is looked at. Mend: write std::move(hook), or std::ref(hook) to keep it outside");
  return Moved;
}
template <class Hook>
consteval bool hook_is_a_class() {
  constexpr bool good = std::is_class_v<Hook>;
  static_assert(good, "tautline: a hook is an object of a class type with at least one callback; this argument is none. "
                      "Mend: pass a hook, or options{...} directly behind the graph");
  return good;
}
template <class Hook>
consteval bool hook_is_not_final() {
  constexpr bool good = !std::is_final_v<Hook>;
  static_assert(good, "tautline: this hook's class is final; misspelt callbacks are found by deriving from it. Mend: "
                      "remove `final` from the class");
  return good;
}
template <class Hook>
consteval bool hook_has_a_callback() {
  using has = named_callbacks<Hook>;
  constexpr bool good = has::begin || has::after_create_session || has::before_run || has::after_run || has::end ||
                        has::on_error || has::close;
  static_assert(good, "tautline: this type has no callback, so it would never act. Mend: give it at least one of begin, "
                      "after_create_session, before_run, after_run, end, on_error and close");
  return good;
}

template <class Argument>
struct argument_of {
  using stored = std::remove_cvref_t<Argument>;
  using entry = typename entry_of<stored>::type;
  static constexpr bool moved = !std::is_lvalue_reference_v<Argument> || reference_like<typename entry::stored>;
};

template <class Argument>
consteval bool check_hook() {
  using argument = argument_of<Argument>;
  using hook = typename argument::entry::type;
  if constexpr (!hook_is_a_class<hook>()) {
    return false;
  } else if constexpr (!hook_is_moved<hook, argument::moved>()) {
    return false;
  } else if constexpr (!hook_is_not_final<hook>()) {
    return false;
  } else if constexpr (!names_are_right<hook>()) {
    return false;
  } else {
    return hook_has_a_callback<hook>();
  }
}

// --- the hooks among each other -------------------------------------------------------------------------------------

template <class Hook, class... Hooks>
inline constexpr int count_same = (0 + ... + (std::is_same_v<Hook, Hooks> ? 1 : 0));

template <class Hook, bool Once>
consteval bool singleton_is_alone() {
  static_assert(Once, "tautline: this hook may stand in a session only once, and it stands there twice. Mend: remove one");
  return Once;
}
template <class... Hooks>
consteval bool singletons_are_alone() {
  if constexpr ((false || ... || is_singleton<Hooks>)) {
    return (true && ... && singleton_is_alone<Hooks, !is_singleton<Hooks> || count_same<Hooks, Hooks...> == 1>());
  } else {
    return true;
  }
}

template <class Hook, class... Hooks>
consteval bool order_has_no_cycle() {
  constexpr bool good = sizeof...(Hooks) == 0;
  static_assert(good, "tautline: the relations of these hooks (runs_before, runs_after, check before saver, provider before "
                      "those who ask) form a cycle, so no order satisfies them. Mend: remove one relation");
  return good;
}

template <fixed_string Name, class... Providers>
consteval bool one_provider() {
  constexpr bool good = sizeof...(Providers) < 2;
  static_assert(good, "tautline: two hooks provide one name, so nobody could tell whose value is meant. Mend: remove one "
                      "of Providers, or give its value another name");
  return good;
}
template <class Provider, fixed_string Name, bool Free>
consteval bool provided_name_is_free() {
  static_assert(Free, "tautline: this hook provides a name that the graph has already. Mend: give its value another name");
  return Free;
}

// --- the hook and the session ---------------------------------------------------------------------------------------

template <class Hook, fixed_string Callback, bool Callable>
consteval bool callback_is_callable() {
  static_assert(Callable,
                "tautline: this hook's member named in Callback has the name of a callback, but cannot be called as one. "
                "Mend: make it public and give it one of the signatures begin(graph), after_create_session(session), "
                "before_run(ctx), after_run(ctx), after_run(ctx, values), end(session), on_error(error), close(); ctx, "
                "session and values by (const) reference, behind each, if wanted, tautline::life&");
  return Callable;
}
template <class Hook>
consteval bool tells_without_asking() {
  constexpr bool good = false;
  static_assert(good && sizeof(Hook) > 0,
                "tautline: this hook has after_run(ctx, values) but asks for no values, so it would never be called. "
                "Mend: return fetch<\"name\"> from before_run, or write after_run(ctx)");
  return good;
}
template <class Hook, class Returned, bool Good>
consteval bool before_run_returns_a_request() {
  static_assert(Good, "tautline: before_run returns something that is no request. Mend: return fetch<\"name\">, "
                      "feed<\"name\">(value), target<\"name\">, run_args{...} of these, an optional of it, "
                      "ask_if(condition, items...), or nothing");
  return Good;
}
template <class Hook, bool Good>
consteval bool fetches_have_one_condition() {
  static_assert(Good, "tautline: before_run asks for values under several conditions, so after_run could not know which of "
                      "them it has. Mend: put all fetches under one ask_if, or ask for them always");
  return Good;
}
template <class Hook, class Asked, bool Good>
consteval bool asked_values_are_wanted() {
  static_assert(Good, "tautline: this hook asks for values in before_run but has no after_run(ctx, values) to get them. "
                      "Mend: add after_run(ctx, values), or do not ask");
  return Good;
}
template <class Hook, class Returned, bool Good>
consteval bool begin_returns_a_graph() {
  static_assert(Good, "tautline: begin returns something that is no graph. Mend: take the graph by value and return the "
                      "extended one, or take it by reference and return nothing");
  return Good;
}
template <class Graph, bool Good>
consteval bool first_argument_is_a_graph() {
  static_assert(Good, "tautline: the first argument of monitored must be a graph or a backend: a type with "
                      "`status run(request const&)`, or with finalize() that gives one. Mend: pass a static_graph, a "
                      "step_function or a backend of your own first, then options, then the hooks");
  return Good;
}
template <class First, class Second, fixed_string Name, bool Good>
consteval bool fed_once() {
  static_assert(Good, "tautline: both First and Second feed this name in every run. Mend: remove one of the feeds, or feed "
                      "under a condition (ask_if) that holds for one of them at a time");
  return Good;
}

}  // namespace detail
TAUTLINE_END
