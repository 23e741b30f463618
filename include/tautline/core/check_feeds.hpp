// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/check_run.hpp>
#include <tautline/core/life_cycle.hpp>

TAUTLINE_BEGIN
namespace detail {

// Rule 8: two feeds of one name are an error that names both parties, here where both are known to feed in every run.

// --- places in lists of types ---------------------------------------------------------------------------------------

template <std::size_t Index, class Type>
struct indexed_type {};
template <std::size_t Index, class Type>
constexpr Type* pick(indexed_type<Index, Type>*);
template <class Indices, class... Types>
struct type_index;
template <std::size_t... Index, class... Types>
struct type_index<std::index_sequence<Index...>, Types...> : indexed_type<Index, Types>... {};
/// The type at a place; in constant time, unlike a recursion.
template <std::size_t Place, class... Types>
using type_at = std::remove_pointer_t<decltype(pick<Place>(
    static_cast<type_index<std::make_index_sequence<sizeof...(Types)>, Types...>*>(nullptr)))>;

/// A name with the party that feeds or provides it.
template <class Owner, fixed_string Name>
struct owned_name {
  using owner = Owner;
  static constexpr auto name = Name;
};

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

// --- feeds ----------------------------------------------------------------------------------------------------------

/// A name with the party that feeds it, whether it does so in every run, and the value's type.
template <class Owner, fixed_string Name, bool Always, class Value>
struct owned_feed : owned_name<Owner, Name> {
  static constexpr bool always = Always;
  using value_type = Value;
};
template <class Owner, class Request, fixed_string... Names, class... Values>
constexpr auto fed_by(type_list<feed_t<Names, Values>...>)
    -> type_list<owned_feed<Owner, Names, inspect<Request>::find(item_kind::feed, Names.characters) == presence::always,
                            Values>...>;
/// What `Request` may feed, as owned_feeds.
template <class Owner, class Request>
using feeds_of = decltype(fed_by<Owner, Request>(typename inspect<Request>::feeds{}));

template <class First, class Second>
consteval auto feeds_agree() {
  if constexpr (First::name != Second::name) {
    return fine{};
  } else if constexpr (First::always && Second::always) {
    return fed_twice<First::name, typename First::owner, typename Second::owner>{};
  } else {
    return fine_or<std::is_same_v<typename First::value_type, typename Second::value_type>,
                   fed_with_two_types<First::name, typename First::owner, typename First::value_type,
                                      typename Second::owner, typename Second::value_type>>();
  }
}
/// Each pair; there are few feeds.
consteval auto check_feeds(type_list<>) { return fine{}; }
template <class First, class... Rest>
consteval auto check_feeds(type_list<First, Rest...>) {
  return (fine{} | ... | feeds_agree<First, Rest>()) | check_feeds(type_list<Rest...>{});
}

// --- a run, as its caller asks for it -------------------------------------------------------------------------------

/// The hooks that see a run.
template <auto Mask, class Indices, class... Kept>
struct hooks_on;
template <auto Mask, std::size_t... Index, class... Kept>
struct hooks_on<Mask, std::index_sequence<Index...>, Kept...> {
  using type = join_t<std::conditional_t<Mask.on[Index], type_list<hook_of<Kept>>, type_list<>>...>;
};

template <class Core, class Args, class... Hooks>
consteval auto caller_feeds_alone(type_list<Hooks...>) {
  if constexpr (std::is_same_v<typename inspect<Args>::feeds, type_list<>>) {
    return fine{};
  } else {
    return check_feeds(join_t<feeds_of<the_caller_of_run, Args>,
                              feeds_of<Hooks, typename hook_request<Core, Args, Hooks>::type>...>{});
  }
}

}  // namespace detail
TAUTLINE_END
