// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/check_session.hpp>

TAUTLINE_BEGIN
namespace detail {

/// Tells the options from the hooks.
template <class Graph, class... Arguments>
struct monitored_plan {
  static constexpr bool has_options = false;
  using verdict = decltype(check_monitored<Graph, options<>, Arguments...>());
};
template <class Graph, class First, class... Rest>
  requires is_options<std::remove_cvref_t<First>>
struct monitored_plan<Graph, First, Rest...> {
  static constexpr bool has_options = true;
  using verdict = decltype(check_monitored<Graph, std::remove_cvref_t<First>, Rest...>());
};

template <class Session, bool Throw, class Graph, class Options, class... Arguments>
auto make_session(Graph&& graph, Options&& given, Arguments&&... hooks) {
  return Session(std::bool_constant<Throw>{}, static_cast<Graph&&>(graph), static_cast<Options&&>(given),
                 entry<std::remove_cvref_t<Arguments>>::hook(hooks)...);
}
template <class Plan, bool Throw, class Graph, class... Arguments>
auto make_planned(Graph&& graph, Arguments&&... arguments) {
  using session = typename Plan::verdict::session_type;
  if constexpr (Plan::has_options) {
    return make_session<session, Throw>(static_cast<Graph&&>(graph), static_cast<Arguments&&>(arguments)...);
  } else {
    return make_session<session, Throw>(static_cast<Graph&&>(graph), options<>{},
                                        static_cast<Arguments&&>(arguments)...);
  }
}

}  // namespace detail

/// A graph, run under hooks: calls `begin` of every hook, finalizes the graph, makes the session and calls
/// `after_create_session`.
///
///     auto session = tautline::monitored(graph, stop_at_step{1000}, nan_checker<"loss">{});
///     session.run_to_completion(target<"train">);
///
/// @param graph a `static_graph`, a `step_function`, or a backend; copied, or moved from an rvalue
/// @param arguments `options{…}` if wanted, then the hooks, moved in (`std::ref(hook)` keeps one outside)
/// **Order** that of the arguments in every callback, except where hooks declare relations
/// **Errors** what a hook or the backend throws, after `on_error` and `close` of every hook. As a value (without
/// exceptions, or by `try_monitored`): the session is closed, and its `status()` says why.
/// **Cost** none but that of the callbacks; the session is immovable and built in place.
template <class Graph, class... Arguments>
auto monitored(Graph&& graph, [[maybe_unused]] Arguments&&... arguments) {
  using plan = detail::monitored_plan<Graph, Arguments...>;
  if constexpr (plan::verdict::good) {
    return detail::make_planned<plan, true>(static_cast<Graph&&>(graph), static_cast<Arguments&&>(arguments)...);
  } else {
    plan::verdict::say();
    return detail::rejected{};
  }
}
/// As `monitored`; an error is in the session's `status()`.
template <class Graph, class... Arguments>
auto try_monitored(Graph&& graph, [[maybe_unused]] Arguments&&... arguments) {
  using plan = detail::monitored_plan<Graph, Arguments...>;
  if constexpr (plan::verdict::good) {
    return detail::make_planned<plan, false>(static_cast<Graph&&>(graph), static_cast<Arguments&&>(arguments)...);
  } else {
    plan::verdict::say();
    return detail::rejected{};
  }
}

TAUTLINE_END
