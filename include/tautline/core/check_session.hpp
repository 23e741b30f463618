// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/check_hook.hpp>
#include <tautline/core/monitored_session.hpp>

// Everything that `monitored` checks, in the order in which a reader would want to hear of it; the first reason that
// is found is the only one that is heard.

TAUTLINE_BEGIN
namespace detail {

// --- the graph on its way through begin -----------------------------------------------------------------------------

/// The type that the graph has after this hook's begin.
template <class Hook, class Graph>
constexpr auto* after_begin() {
  constexpr begin_form form = begins<Hook, Graph>();
  if constexpr (form == begin_form::absent || form == begin_form::by_reference) {
    return static_cast<Graph*>(nullptr);
  } else {
    using passed = std::conditional_t<form == begin_form::by_copy, Graph&, Graph&&>;
    if constexpr (begin_takes_life<Hook, Graph>()) {
      return static_cast<std::remove_cvref_t<decltype(std::declval<Hook&>().begin(std::declval<passed>(),
                                                                                  std::declval<life&>()))>*>(nullptr);
    } else {
      return static_cast<std::remove_cvref_t<decltype(std::declval<Hook&>().begin(std::declval<passed>()))>*>(nullptr);
    }
  }
}

/// The verdict on every begin: the graph's type behind the last one.
template <class Last>
struct begun : fine {
  using graph_type = Last;
};

template <class Graph>
consteval auto begin_chain(type_list<>) {
  return begun<Graph>{};
}
template <class Graph, class Hook, class... Rest>
consteval auto begin_chain(type_list<Hook, Rest...>) {
  if constexpr (!(named_callbacks<Hook>::begin || ... || named_callbacks<Rest>::begin)) {
    return begun<Graph>{};
  } else if constexpr (!named_callbacks<Hook>::begin) {
    return begin_chain<Graph>(type_list<Rest...>{});
  } else if constexpr (begins<Hook, Graph>() == begin_form::absent) {
    return uncallable<Hook, "begin">{};
  } else {
    using next = std::remove_pointer_t<decltype(after_begin<Hook, Graph>())>;
    if constexpr (std::is_same_v<next, rejected>) {
      return heard{};
    } else if constexpr (!graph<next>) {
      return begin_returns_no_graph<Hook, next>{};
    } else {
      return begin_chain<next>(type_list<Rest...>{});
    }
  }
}

// --- all hooks together ---------------------------------------------------------------------------------------------

template <class Hook, class... Hooks>
inline constexpr int times_in = (0 + ... + (std::is_same_v<Hook, Hooks> ? 1 : 0));
template <class... Hooks>
consteval auto singletons_are_alone() {
  if constexpr ((is_singleton<Hooks> || ...)) {
    return all_fine(fine_or<!is_singleton<Hooks> || times_in<Hooks, Hooks...> == 1, singleton_twice<Hooks>>()...);
  } else {
    return fine{};
  }
}

template <class Hook, fixed_string... Names, class... Values>
constexpr auto provides_names(type_list<provides<Names, Values>...>) -> type_list<owned_name<Hook, Names>...>;

template <class Backend, class... Owned>
consteval auto names_have_one_provider(type_list<Owned...> list) {
  constexpr two_places found = same_name_twice(list);
  if constexpr (found.first != found.second) {
    using first = type_at<found.first, Owned...>;
    using second = type_at<found.second, Owned...>;
    return provided_twice<first::name, typename first::owner, typename second::owner>{};
  } else {
    using has = typename fetchable_of<Backend>::type;
    return all_fine(fine_or<std::is_void_v<has> || !lists(static_cast<has*>(nullptr), Owned::name.characters),
                            provided_name_is_taken<Owned::name, typename Owned::owner>>()...);
  }
}

/// The shortest cycle that `member` is in, as places.
template <std::size_t Count>
struct cycle_path {
  std::size_t at[Count == 0 ? 1 : Count]{};
  std::size_t length = 0;
};
template <std::size_t Count>
consteval auto find_cycle(relations<Count> const& known, std::size_t member) {
  std::size_t from[Count]{};  // the one before, on the shortest way from member
  std::size_t queue[Count]{};
  std::size_t queued = 0;
  bool seen[Count]{};
  cycle_path<Count> path;
  queue[queued++] = member;
  for (std::size_t i = 0; i < queued && path.length == 0; ++i) {
    for (std::size_t next = 0; next < Count && path.length == 0; ++next) {
      if (!known.before[queue[i]][next]) continue;
      if (next == member) {
        std::size_t reversed[Count]{};
        std::size_t length = 0;
        for (std::size_t at = queue[i]; at != member; at = from[at]) reversed[length++] = at;
        path.at[path.length++] = member;
        while (length > 0) path.at[path.length++] = reversed[--length];
      } else if (!seen[next]) {
        seen[next] = true;
        from[next] = queue[i];
        queue[queued++] = next;
      }
    }
  }
  return path;
}

template <auto Order, class Fetches, class... Hooks>
consteval auto order_exists(Fetches fetches, type_list<Hooks...> list) {
  if constexpr (Order.cycle < sizeof...(Hooks)) {
    constexpr auto path = find_cycle(relations_of(list, fetches), Order.cycle);
    return []<std::size_t... Place>(std::index_sequence<Place...>) {
      return order_cycle<type_at<path.at[Place], Hooks...>...>{};
    }(std::make_index_sequence<path.length>{});
  } else {
    return fine{};
  }
}

template <auto Order, class... Hooks, std::size_t... Place>
constexpr auto sorted_hooks(type_list<Hooks...>, std::index_sequence<Place...>)
    -> type_list<type_at<Order.opening[Place], Hooks...>...>;

// --- what monitored asks, and what it makes -------------------------------------------------------------------------

/// The verdict on everything: the session's type.
template <class Session>
struct accepted : fine {
  using session_type = Session;
};

template <class Backend, class Options, class... Kept>
consteval auto check_session() {
  using core = session_core<Backend, Options, Kept...>;
  constexpr auto each = all_fine(check_in_session<hook_of<Kept>, Backend, core>()...);
  if constexpr (!each.good) {
    return each;
  } else {
    using hooks = type_list<hook_of<Kept>...>;
    using fetches = type_list<typename hook_request<core, run_args<>, hook_of<Kept>>::fetches...>;
    return names_have_one_provider<Backend>(
               join_t<decltype(provides_names<hook_of<Kept>>(provided_by_t<hook_of<Kept>>{}))...>{}) |
           check_feeds(join_t<feeds_of<hook_of<Kept>,
                                       typename hook_request<core, run_args<>, hook_of<Kept>>::type>...>{}) |
           order_exists<order_of(hooks{}, fetches{})>(fetches{}, hooks{}) |
           hook_names_differ(join_t<if_named<Kept>...>{}) |
           check_states<Backend, Options, hook_of<Kept>...>() |
           accepted<monitored_session<Backend, Options, Kept...>>{};
  }
}

/// The graph and the hooks by themselves, and their order in begin.
template <class Graph, class... Arguments>
consteval auto check_arguments() {
  using stored = std::remove_cvref_t<Graph>;
  if constexpr (std::is_same_v<stored, rejected>) {
    return heard{};
  } else if constexpr (!graph<stored>) {
    return no_graph_first<stored>{};
  } else {
    constexpr auto each = all_fine(fine_or<std::is_constructible_v<stored, Graph>, graph_cannot_be_copied<stored>>(),
                                   check_hook<Arguments>()...);
    if constexpr (!each.good) {
      return each;
    } else {
      using hooks = type_list<typename argument_of<Arguments>::hook...>;
      using asked = type_list<typename declared_fetches<typename argument_of<Arguments>::hook>::type...>;
      return singletons_are_alone<typename argument_of<Arguments>::hook...>() |
             order_exists<order_of(hooks{}, asked{})>(asked{}, hooks{});
    }
  }
}

template <class Graph, class Options, class... Arguments>
consteval auto check_monitored() {
  constexpr auto arguments = check_arguments<Graph, Arguments...>();
  if constexpr (!arguments.good) {
    return arguments;
  } else {
    using hooks = type_list<typename argument_of<Arguments>::hook...>;
    using asked = type_list<typename declared_fetches<typename argument_of<Arguments>::hook>::type...>;
    using sorted = decltype(sorted_hooks<order_of(hooks{}, asked{})>(hooks{}, std::index_sequence_for<Arguments...>{}));
    constexpr auto chain = begin_chain<std::remove_cvref_t<Graph>>(sorted{});
    if constexpr (!chain.good) {
      return chain;
    } else {
      using backend = decltype(detail::finalize(std::declval<typename decltype(chain)::graph_type&>()));
      return check_session<backend, Options, typename argument_of<Arguments>::kept...>();
    }
  }
}

}  // namespace detail
TAUTLINE_END
