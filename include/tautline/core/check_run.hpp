// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/run_context.hpp>

TAUTLINE_BEGIN
namespace detail {

template <fixed_string... Names>
consteval bool lists(names<Names...>*, char const* name) {
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

// --- reasons; their template arguments stand beside the message: who asked, for what, and what there is ---------------

template <class Asker, fixed_string Unknown, class GraphHas>
struct unknown_fetch : reason {
  static consteval void say() {
    static_assert(mended<unknown_fetch>,
                  "tautline: a fetch of a name that the graph does not have, so it could never get a value. Mend: use one "
                  "of the names that are listed beside this message, or add the node to the graph");
  }
};
template <class Asker, fixed_string Unknown, class GraphHas>
struct unknown_feed : reason {
  static consteval void say() {
    static_assert(mended<unknown_feed>,
                  "tautline: a feed of a name that is no placeholder of the graph. Mend: feed one of the placeholders that "
                  "are listed beside this message, or add one of this name to the graph");
  }
};
template <class Asker, fixed_string Unknown, class GraphHas>
struct unknown_target : reason {
  static consteval void say() {
    static_assert(mended<unknown_target>,
                  "tautline: a target that the graph does not have, so nothing would run. Mend: use one of the names that "
                  "are listed beside this message, or add the node to the graph");
  }
};
template <class Argument>
struct no_request_argument : reason {
  static consteval void say() {
    static_assert(mended<no_request_argument>,
                  "tautline: a run takes fetch<\"name\">, feed<\"name\">(value), target<\"name\">, run_args or "
                  "ask_if(condition, items...), and nothing else. Mend: remove the argument, or wrap it in one of these");
  }
};
template <fixed_string Name, class SessionHas>
struct unknown_stored_value : reason {
  static consteval void say() {
    static_assert(mended<unknown_stored_value>,
                  "tautline: the raw session has no value of this name. Mend: use one of the names that are listed beside "
                  "this message");
  }
};

template <class Hook, class... SessionHas>
struct absent_hook : reason {
  static consteval void say() {
    static_assert(mended<absent_hook>,
                  "tautline: the session has no hook of this type. Mend: use one of its hooks' types, which are listed beside "
                  "this message behind the one that was asked for, or add the hook in monitored");
  }
};
template <fixed_string Name, class SessionHas>
struct absent_hook_name : reason {
  static consteval void say() {
    static_assert(mended<absent_hook_name>,
                  "tautline: the session has no hook of this name. Mend: use one of its hooks' names, which are listed beside "
                  "this message, or name the hook in monitored: named<\"name\">(hook)");
  }
};
template <class Options>
struct run_for_without_clock : reason {
  static consteval void say() {
    static_assert(mended<run_for_without_clock>,
                  "tautline: run_for needs a clock, and the session has none. Mend: give one: monitored(graph, "
                  "options{with_clock{clock}}, hooks...)");
  }
};

// --- nothing can be added to a graph that was finalized -------------------------------------------------------------

template <fixed_string Name, class Session>
struct graph_is_finalized : reason {
  static consteval void say() {
    static_assert(mended<graph_is_finalized>,
                  "tautline: the graph was finalized when the session was made, so nothing can be added to it. Mend: add the "
                  "node before monitored(), or in a hook's begin(graph)");
  }
};
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

template <bool Good, class Reason>
consteval auto fine_or() {
  if constexpr (Good) {
    return fine{};
  } else {
    return Reason{};
  }
}

/// @tparam Core the session whose hooks may publish the name; void for a raw run, which sees no publications
template <class Asker, class Backend, class Core, fixed_string... Names, class... Types>
consteval auto fetches_exist(type_list<fetch_t<Names, Types>...>) {
  using has = typename fetchable_of<Backend>::type;
  return (fine{} | ... |
          fine_or<lists(static_cast<has*>(nullptr), Names.characters) || published_by_hook<Core, Names>(),
                  unknown_fetch<Asker, Names, has>>());
}
template <class Asker, class Backend, fixed_string... Names, class... Values>
consteval auto feeds_exist(type_list<feed_t<Names, Values>...>) {
  using has = typename feedable_of<Backend>::type;
  return (fine{} | ... |
          fine_or<lists(static_cast<has*>(nullptr), Names.characters), unknown_feed<Asker, Names, has>>());
}
template <class Asker, class Backend, fixed_string... Names>
consteval auto targets_exist(type_list<target_t<Names>...>) {
  using has = typename runnable_of<Backend>::type;
  return (fine{} | ... |
          fine_or<lists(static_cast<has*>(nullptr), Names.characters), unknown_target<Asker, Names, has>>());
}

template <class Asker, class Backend, class Core, class Request>
consteval auto names_exist() {
  return fetches_exist<Asker, Backend, Core>(typename inspect<Request>::fetches{}) |
         feeds_exist<Asker, Backend>(typename inspect<Request>::feeds{}) |
         targets_exist<Asker, Backend>(typename inspect<Request>::targets{});
}

/// What a caller passes to run and its like.
template <class Asker, class Backend, class Core, class... Items>
consteval auto check_items() {
  constexpr auto items = (fine{} | ... | fine_or<inspect<Items>::is_request, no_request_argument<Items>>());
  if constexpr (!items.good) {
    return items;
  } else {
    return names_exist<Asker, Backend, Core, run_args<Items...>>();
  }
}

template <class Backend, fixed_string Name>
consteval auto check_stored_value() {
  using has = typename fetchable_of<Backend>::type;
  return fine_or<lists(static_cast<has*>(nullptr), Name.characters), unknown_stored_value<Name, has>>();
}

}  // namespace detail
TAUTLINE_END
