// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/diagnose.hpp>

TAUTLINE_BEGIN
namespace detail {

// --- the graph on its way through begin -----------------------------------------------------------------------------

/// The type that the graph has after this hook's begin.
template <class Hook, class Graph>
constexpr auto* after_begin() {
  constexpr begin_form form = begins<Hook, Graph>;
  if constexpr (form == begin_form::absent || form == begin_form::by_reference) {
    return static_cast<Graph*>(nullptr);
  } else {
    using passed = std::conditional_t<form == begin_form::by_copy, Graph&, Graph&&>;
    if constexpr (begin_takes_life<Hook, Graph>) {
      return static_cast<std::remove_cvref_t<decltype(std::declval<Hook&>().begin(std::declval<passed>(),
                                                                                  std::declval<life&>()))>*>(nullptr);
    } else {
      return static_cast<std::remove_cvref_t<decltype(std::declval<Hook&>().begin(std::declval<passed>()))>*>(nullptr);
    }
  }
}

struct no_graph {};

/// Checks begin of each hook in order and gives the type of the last graph; `no_graph` where one was refused.
template <class Graph>
constexpr auto* begin_chain(type_list<>) {
  return static_cast<Graph*>(nullptr);
}
template <class Graph, class Hook, class... Rest>
constexpr auto* begin_chain(type_list<Hook, Rest...>) {
  if constexpr (!callback_is_callable<Hook, "begin",
                                      !named_callbacks<Hook>::begin || begins<Hook, Graph> != begin_form::absent>()) {
    return static_cast<no_graph*>(nullptr);
  } else {
    using next = std::remove_pointer_t<decltype(after_begin<Hook, Graph>())>;
    if constexpr (!begin_returns_a_graph<Hook, next, graph<next>>()) {
      return static_cast<no_graph*>(nullptr);
    } else {
      return begin_chain<next>(type_list<Rest...>{});
    }
  }
}

template <auto Order, class Hooks, class Indices>
struct in_order;
template <std::size_t Index, class Type>
struct indexed_type {};
template <std::size_t Index, class Type>
constexpr Type* pick(indexed_type<Index, Type>*);
template <class Indices, class... Types>
struct type_index;
template <std::size_t... Index, class... Types>
struct type_index<std::index_sequence<Index...>, Types...> : indexed_type<Index, Types>... {};

template <auto Order, std::size_t... Place, class... Hooks>
struct in_order<Order, type_list<Hooks...>, std::index_sequence<Place...>> {
  using indexed = type_index<std::index_sequence<Place...>, Hooks...>;
  using type = type_list<
      std::remove_pointer_t<decltype(pick<Order.opening[Place]>(static_cast<indexed*>(nullptr)))>...>;
};

// --- one hook in its session ----------------------------------------------------------------------------------------

template <class Backend, class Core, class Hook>
consteval bool check_request() {
  using info = hook_request<Core, run_args<>, Hook>;
  using request = typename info::type;
  using list = typename info::fetches;
  if constexpr (!fetches_have_one_condition<Hook, (inspect<request>::groups <= 1)>()) {
    return false;
  } else if constexpr (!asked_values_are_wanted<Hook, list, !info::asks || info::told_values != form::absent>()) {
    return false;
  } else {
    return names_exist<Hook, Backend, Core, request>();
  }
}

template <class Core, class Hook, class Context>
consteval bool before_run_is_good() {
  if constexpr (!named_callbacks<Hook>::before_run) {
    return true;
  } else if constexpr (!callback_is_callable<Hook, "before_run",
                                             form_with<before_run_callback, Hook, Context> != form::absent>()) {
    return false;
  } else {
    constexpr form how = form_with<before_run_callback, Hook, Context>;
    using returned = std::remove_cvref_t<decltype(call<before_run_callback, how>(
        std::declval<Hook&>(), std::declval<life&>(), std::declval<Context&>()))>;
    if constexpr (std::is_void_v<returned>) {
      return true;
    } else {
      return before_run_returns_a_request<Hook, returned, inspect<returned>::is_request>();
    }
  }
}

template <class Core, class Hook>
consteval bool after_run_is_good() {
  using info = hook_request<Core, run_args<>, Hook>;
  if constexpr (!named_callbacks<Hook>::after_run || info::told != form::absent || info::told_values != form::absent) {
    return true;
  } else if constexpr (!info::asks && after_run_callback::template takes<Hook, typename info::context, any_argument>) {
    return tells_without_asking<Hook>();
  } else {
    return callback_is_callable<Hook, "after_run", false>();
  }
}

template <class Hook, class Callback, fixed_string Name, bool Named, class... Arguments>
consteval bool callback_is_good() {
  if constexpr (!Named) {
    return true;
  } else {
    return callback_is_callable<Hook, Name, form_with<Callback, Hook, Arguments...> != form::absent>();
  }
}

template <class Backend, class Core, class Hook>
consteval bool check_in_session() {
  using has = named_callbacks<Hook>;
  using context = run_context<Core, run_args<>>;
  using session = raw_session<Core>;
  if constexpr (!before_run_is_good<Core, Hook, context>()) {
    return false;
  } else if constexpr (!after_run_is_good<Core, Hook>()) {
    return false;
  } else if constexpr (!callback_is_good<Hook, after_create_session_callback, "after_create_session",
                                         has::after_create_session, session>()) {
    return false;
  } else if constexpr (!callback_is_good<Hook, end_callback, "end", has::end, session>()) {
    return false;
  } else if constexpr (!callback_is_good<Hook, on_error_callback, "on_error", has::on_error, error const>()) {
    return false;
  } else if constexpr (!callback_is_good<Hook, close_callback, "close", has::close>()) {
    return false;
  } else {
    return check_request<Backend, Core, Hook>();
  }
}

// --- all hooks together ---------------------------------------------------------------------------------------------

/// A name with the hook that feeds or provides it.
template <class Hook, fixed_string Name>
struct owned_name {
  using hook = Hook;
  static constexpr auto name = Name;
};

template <class Hook, class Request, fixed_string... Names, class... Values>
constexpr auto feeds_always(type_list<feed_t<Names, Values>...>)
    -> join_t<std::conditional_t<inspect<Request>::find(item_kind::feed, Names.characters) == presence::always,
                                 type_list<owned_name<Hook, Names>>, type_list<>>...>;
template <class Hook, fixed_string... Names, class... Values>
constexpr auto provides_names(type_list<provides<Names, Values>...>) -> type_list<owned_name<Hook, Names>...>;

struct two_places {
  std::size_t first = 0;
  std::size_t second = 0;
};
/// The first two places with the same name; equal if there are none.
template <class... Owned>
consteval two_places same_name_twice(type_list<Owned...>) {
  char const* all[] = {Owned::name.characters..., nullptr};
  for (std::size_t i = 0; i < sizeof...(Owned); ++i) {
    for (std::size_t j = i + 1; j < sizeof...(Owned); ++j) {
      if (same_text(all[i], all[j])) return {i, j};
    }
  }
  return {};
}

template <class... Owned>
consteval bool names_are_fed_once(type_list<Owned...>) {
  constexpr two_places found = same_name_twice(type_list<Owned...>{});
  if constexpr (found.first != found.second) {
    using indexed = type_index<std::make_index_sequence<sizeof...(Owned)>, Owned...>;
    using first = std::remove_pointer_t<decltype(pick<found.first>(static_cast<indexed*>(nullptr)))>;
    using second = std::remove_pointer_t<decltype(pick<found.second>(static_cast<indexed*>(nullptr)))>;
    return fed_once<typename first::hook, typename second::hook, first::name, false>();
  } else {
    return true;
  }
}
template <class Backend, class... Owned>
consteval bool names_have_one_provider(type_list<Owned...>) {
  constexpr two_places found = same_name_twice(type_list<Owned...>{});
  if constexpr (found.first != found.second) {
    using indexed = type_index<std::make_index_sequence<sizeof...(Owned)>, Owned...>;
    using first = std::remove_pointer_t<decltype(pick<found.first>(static_cast<indexed*>(nullptr)))>;
    using second = std::remove_pointer_t<decltype(pick<found.second>(static_cast<indexed*>(nullptr)))>;
    return one_provider<first::name, typename first::hook, typename second::hook>();
  } else {
    using has = typename fetchable_of<Backend>::type;
    return (true && ... &&
            provided_name_is_free<typename Owned::hook, Owned::name,
                                  std::is_void_v<has> || !lists(static_cast<has*>(nullptr), Owned::name.characters)>());
  }
}

template <auto Order, class... Hooks>
consteval bool check_cycle(type_list<Hooks...>) {
  if constexpr (Order.cycle < sizeof...(Hooks)) {
    // all hooks that were not placed: the cycle, and what waits for it
    using indexed = type_index<std::make_index_sequence<sizeof...(Hooks)>, Hooks...>;
    return order_has_no_cycle<std::remove_pointer_t<decltype(pick<Order.cycle>(static_cast<indexed*>(nullptr)))>, Hooks...>();
  } else {
    return true;
  }
}

// --- what monitored asks, and what it makes -------------------------------------------------------------------------

template <class Backend, class Core, class... Hooks>
consteval bool check_session() {
  if constexpr (!(true && ... && check_in_session<Backend, Core, Hooks>())) {
    return false;
  } else if constexpr (!names_have_one_provider<Backend>(
                           join_t<decltype(provides_names<Hooks>(provided_by_t<Hooks>{}))...>{})) {
    return false;
  } else if constexpr (!names_are_fed_once(
                           join_t<decltype(feeds_always<Hooks, typename hook_request<Core, run_args<>, Hooks>::type>(
                               typename inspect<typename hook_request<Core, run_args<>, Hooks>::type>::feeds{}))...>{})) {
    return false;
  } else {
    return check_cycle<order_of(type_list<Hooks...>{},
                                type_list<typename hook_request<Core, run_args<>, Hooks>::fetches...>{})>(
        type_list<Hooks...>{});
  }
}

/// The session's type, or `rejected` after the one message.
template <class Graph, class Options, class... Arguments>
constexpr auto* session_type() {
  if constexpr (!first_argument_is_a_graph<Graph, graph<Graph>>()) {
    return static_cast<rejected*>(nullptr);
  } else if constexpr (!(true && ... && check_hook<Arguments>())) {
    return static_cast<rejected*>(nullptr);
  } else {
    using hooks = type_list<typename argument_of<Arguments>::entry::type...>;
    using asked = type_list<typename declared_fetches<typename argument_of<Arguments>::entry::type>::type...>;
    constexpr auto order = order_of(hooks{}, asked{});
    if constexpr (!singletons_are_alone<typename argument_of<Arguments>::entry::type...>()) {
      return static_cast<rejected*>(nullptr);
    } else if constexpr (!check_cycle<order>(hooks{})) {
      return static_cast<rejected*>(nullptr);
    } else {
      using sorted = typename in_order<order, hooks, std::make_index_sequence<sizeof...(Arguments)>>::type;
      using last = std::remove_pointer_t<decltype(begin_chain<Graph>(sorted{}))>;
      if constexpr (std::is_same_v<last, no_graph>) {
        return static_cast<rejected*>(nullptr);
      } else {
        using made = decltype(finalize(std::declval<last&>()));
        using core = session_core<made, Options, typename argument_of<Arguments>::entry...>;
        if constexpr (!check_session<made, core, typename argument_of<Arguments>::entry::type...>()) {
          return static_cast<rejected*>(nullptr);
        } else {
          return static_cast<monitored_session<made, Options, typename argument_of<Arguments>::entry...>*>(nullptr);
        }
      }
    }
  }
}

template <bool Throw, class Graph, class Options, class... Arguments>
auto make_session(Graph&& graph, Options&& given, Arguments&&... hooks) {
  using session = std::remove_pointer_t<decltype(session_type<std::remove_cvref_t<Graph>, std::remove_cvref_t<Options>,
                                                              Arguments...>())>;
  if constexpr (std::is_same_v<session, rejected>) {
    return rejected{};
  } else {
    return session(std::bool_constant<Throw>{}, static_cast<Graph&&>(graph), static_cast<Options&&>(given),
                   entry_of<std::remove_cvref_t<Arguments>>::hook(hooks)...);
  }
}

template <bool Throw, class Graph, class First, class... Rest>
auto monitored_with(Graph&& graph, First&& first, Rest&&... rest) {
  if constexpr (is_options<std::remove_cvref_t<First>>) {
    return make_session<Throw>(static_cast<Graph&&>(graph), std::remove_cvref_t<First>(static_cast<First&&>(first)),
                               static_cast<Rest&&>(rest)...);
  } else {
    return make_session<Throw>(static_cast<Graph&&>(graph), options<>{}, static_cast<First&&>(first),
                               static_cast<Rest&&>(rest)...);
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
auto monitored(Graph&& graph, Arguments&&... arguments) {
  if constexpr (sizeof...(Arguments) == 0) {
    return detail::make_session<true>(static_cast<Graph&&>(graph), options<>{});
  } else {
    return detail::monitored_with<true>(static_cast<Graph&&>(graph), static_cast<Arguments&&>(arguments)...);
  }
}
/// As `monitored`; an error is in the session's `status()`.
template <class Graph, class... Arguments>
auto try_monitored(Graph&& graph, Arguments&&... arguments) {
  if constexpr (sizeof...(Arguments) == 0) {
    return detail::make_session<false>(static_cast<Graph&&>(graph), options<>{});
  } else {
    return detail::monitored_with<false>(static_cast<Graph&&>(graph), static_cast<Arguments&&>(arguments)...);
  }
}

TAUTLINE_END
