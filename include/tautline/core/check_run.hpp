// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/run_context.hpp>

TAUTLINE_BEGIN
namespace detail {

/// What a rejected call gives, so that the one message about it stays the only one.
struct rejected {
  template <class... Anything>
  constexpr rejected(Anything&&...) {}
  explicit operator bool() const { return false; }
};

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

// Each function below states one reason. Its template arguments are what the compiler prints beside the message: who
// asked, for what, and what there is.

template <class Party, fixed_string Unknown, class GraphHas, bool Found>
consteval bool fetch_exists() {
  static_assert(Found,
                "tautline: a fetch of a name that the graph does not have, so it could never get a value. Mend: use one "
                "of the names in GraphHas, or add the node to the graph (or in `begin`)");
  return Found;
}
template <class Party, fixed_string Unknown, class GraphHas, bool Found>
consteval bool feed_exists() {
  static_assert(Found,
                "tautline: a feed of a name that is no placeholder of the graph. Mend: feed one of the names in "
                "GraphHas, or add a placeholder of this name");
  return Found;
}
template <class Party, fixed_string Unknown, class GraphHas, bool Found>
consteval bool target_exists() {
  static_assert(Found,
                "tautline: a target that the graph does not have, so nothing would run. Mend: use one of the names in "
                "GraphHas, or add the node to the graph");
  return Found;
}


template <class Party, class Backend, class Core, fixed_string... Names, class... Types>
consteval bool fetches_exist(type_list<fetch_t<Names, Types>...>) {
  using has = typename fetchable_of<Backend>::type;
  return (true && ... &&
          fetch_exists<Party, Names, has,
                       lists(static_cast<has*>(nullptr), Names.characters) || Core::template is_published<Names>>());
}
template <class Party, class Backend, fixed_string... Names, class... Values>
consteval bool feeds_exist(type_list<feed_t<Names, Values>...>) {
  using has = typename feedable_of<Backend>::type;
  return (true && ... && feed_exists<Party, Names, has, lists(static_cast<has*>(nullptr), Names.characters)>());
}
template <class Party, class Backend, fixed_string... Names>
consteval bool targets_exist(type_list<target_t<Names>...>) {
  using has = typename runnable_of<Backend>::type;
  return (true && ... && target_exists<Party, Names, has, lists(static_cast<has*>(nullptr), Names.characters)>());
}

template <class Party, class Backend, class Core, class Request>
consteval bool names_exist() {
  if constexpr (!fetches_exist<Party, Backend, Core>(typename inspect<Request>::fetches{})) {
    return false;
  } else if constexpr (!feeds_exist<Party, Backend>(typename inspect<Request>::feeds{})) {
    return false;
  } else {
    return targets_exist<Party, Backend>(typename inspect<Request>::targets{});
  }
}

/// Names the caller in messages.
struct the_caller_of_run {};

template <class Argument>
consteval bool is_run_argument() {
  constexpr bool good = inspect<Argument>::is_request;
  static_assert(good, "tautline: run, steps and their like take fetch<\"name\">, feed<\"name\">(value), target<\"name\">, "
                      "run_args or ask_if(condition, items...), and nothing else");
  return good;
}

template <class Backend, class Core, class Args>
struct run_check;
template <class Backend, class Core, class... Items>
struct run_check<Backend, Core, run_args<Items...>> {
  static consteval bool items() { return (true && ... && is_run_argument<Items>()); }
};

template <class Backend, class Core, class Args>
consteval bool check_run() {
  if constexpr (!run_check<Backend, Core, Args>::items()) {
    return false;
  } else {
    return names_exist<the_caller_of_run, Backend, Core, Args>();
  }
}

}  // namespace detail
TAUTLINE_END
