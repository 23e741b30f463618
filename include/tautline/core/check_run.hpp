// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/run_context.hpp>

TAUTLINE_BEGIN
namespace detail {

template <fixed_string... Names>
consteval bool lists(names<Names...>*, [[maybe_unused]] char const* name) {
  return (false || ... || same_text(Names.characters, name));
}
consteval bool lists(void*, char const*) { return true; }

template <class Backend>
struct fetchable_of {
  using type = void;
};
template <class Backend>
  requires requires { typename Backend::fetchable; }
struct fetchable_of<Backend> {
  using type = typename Backend::fetchable;
};
template <class Backend>
struct feedable_of {
  using type = void;
};
template <class Backend>
  requires requires { typename Backend::feedable; }
struct feedable_of<Backend> {
  using type = typename Backend::feedable;
};
template <class Backend>
struct runnable_of {
  using type = void;
};
template <class Backend>
  requires requires { typename Backend::runnable; }
struct runnable_of<Backend> {
  using type = typename Backend::runnable;
};

/// Who asks, where it is no hook.
struct the_caller_of_run {};
struct a_raw_run {};

// --- nothing can be added to a graph that was finalized -------------------------------------------------------------

/// A graph's own members, for what is no graph any more: they say why they are none.
/// @tparam Session a name for the message, and a base of its own for each
template <class Session>
struct finalized_graph {
#define TAUTLINE_REFUSED(name)                                 \
  template <fixed_string Name, fixed_string... Inputs>         \
  constexpr rejected name(auto&&...) const {                   \
    graph_is_finalized<Name, Session>::say();                  \
    return {};                                                 \
  }
  TAUTLINE_REFUSED(variable)
  TAUTLINE_REFUSED(placeholder)
  TAUTLINE_REFUSED(source)
  TAUTLINE_REFUSED(op)
  TAUTLINE_REFUSED(update)
#undef TAUTLINE_REFUSED
};

// --- the checks -----------------------------------------------------------------------------------------------------

template <class Core, fixed_string Name>
consteval bool published_by_hook() {
  if constexpr (std::is_void_v<Core>) {
    return false;
  } else {
    return Core::template is_published<Name>;
  }
}

/// Where the graph is an object a fetch may bring the type of a value that nobody has declared.
template <class Backend, class Type>
consteval bool brings_its_type() {
  if constexpr (!std::is_void_v<Type> && requires { Backend::template gives_type<Type>(); }) {
    return Backend::template gives_type<Type>();
  } else {
    return false;
  }
}

/// @tparam Core the session whose hooks may publish the name; void for a raw run, which sees no publications
template <class Asker, class Backend, class Core, fixed_string... Names, class... Types>
consteval auto fetches_exist(type_list<fetch_t<Names, Types>...>) {
  using has = typename fetchable_of<Backend>::type;
  return all_fine(fine_or<lists(static_cast<has*>(nullptr), Names.characters) || published_by_hook<Core, Names>() ||
                              brings_its_type<Backend, Types>(),
                          unknown_fetch<Asker, Names, has>>()...);
}
template <class Asker, class Backend, fixed_string Name, class Value>
consteval auto check_fed_type() {
  if constexpr (requires { Backend::template takes_feed<Name, Value>(); }) {
    if constexpr (!Backend::template takes_feed<Name, Value>()) {
      return fed_with_a_wrong_type<Name, Asker, Value, typename Backend::template fed_type<Name>>{};
    } else {
      return fine{};
    }
  } else {
    return fine{};
  }
}
template <class Asker, class Backend, fixed_string... Names, class... Values>
consteval auto feeds_exist(type_list<feed_t<Names, Values>...>) {
  using has = typename feedable_of<Backend>::type;
  return all_fine(all_fine(fine_or<lists(static_cast<has*>(nullptr), Names.characters), unknown_feed<Asker, Names, has>>(),
                           check_fed_type<Asker, Backend, Names, Values>())...);
}
template <class Asker, class Backend, fixed_string... Names>
consteval auto targets_exist(type_list<target_t<Names>...>) {
  using has = typename runnable_of<Backend>::type;
  return all_fine(fine_or<lists(static_cast<has*>(nullptr), Names.characters), unknown_target<Asker, Names, has>>()...);
}

template <class Asker, class Backend, class Core, class Request>
consteval auto names_exist() {
  return all_fine(fetches_exist<Asker, Backend, Core>(typename inspect<Request>::fetches{}),
                  feeds_exist<Asker, Backend>(typename inspect<Request>::feeds{}),
                  targets_exist<Asker, Backend>(typename inspect<Request>::targets{}));
}

template <class Item>
consteval auto check_item() {
  if constexpr (has_rejected<Item>) {
    return heard{};
  } else {
    return fine_or<inspect<Item>::is_request, no_request_argument<Item>>();
  }
}

/// What a caller passes to run and its like.
template <class Asker, class Backend, class Core, class... Items>
consteval auto check_items() {
  constexpr auto items = all_fine(check_item<Items>()...);
  if constexpr (!items.good) {
    return items;
  } else {
    return names_exist<Asker, Backend, Core, run_args<Items...>>();
  }
}

template <class Backend, fixed_string Name, class Type>
consteval auto check_stored_value() {
  using has = typename fetchable_of<Backend>::type;
  return fine_or<lists(static_cast<has*>(nullptr), Name.characters) || brings_its_type<Backend, Type>(), unknown_stored_value<Name, has>>();
}

}  // namespace detail
TAUTLINE_END
