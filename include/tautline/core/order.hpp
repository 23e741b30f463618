// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/hook_list.hpp>
#include <tautline/core/run_request.hpp>

TAUTLINE_BEGIN
namespace detail {

// --- does hook A have to come before hook B? ------------------------------------------------------------------------

template <class Hook>
struct tags_of {
  using type = hooks<>;
};
template <class Hook>
  requires is_hooks<typename Hook::tags>
struct tags_of<Hook> {
  using type = typename Hook::tags;
};
template <class Hook>
struct category_of {
  using type = void;
};
template <class Hook>
  requires requires { typename Hook::category; }
struct category_of<Hook> {
  using type = typename Hook::category;
};

template <class Target, class Hook, class... Tags>
constexpr bool is_meant(hooks<Tags...>) {
  return std::is_same_v<Target, Hook> || std::is_same_v<Target, typename category_of<Hook>::type> ||
         (false || ... || std::is_same_v<Target, Tags>);
}
template <class Hook, class... Targets>
constexpr bool is_one_of(hooks<Targets...>) {
  return (false || ... || is_meant<Targets, Hook>(typename tags_of<Hook>::type{}));
}

template <class Hook>
concept has_runs_before = is_hooks<typename Hook::runs_before>;
template <class Hook>
concept has_runs_after = is_hooks<typename Hook::runs_after>;
template <class Hook>
inline constexpr bool is_check = std::is_same_v<typename category_of<Hook>::type, check>;
template <class Hook>
inline constexpr bool is_saver = std::is_same_v<typename category_of<Hook>::type, saver>;

template <class... Provided, class... Fetches>
constexpr bool gives_any(type_list<Provided...>, type_list<Fetches...>) {
  if constexpr (sizeof...(Provided) == 0 || sizeof...(Fetches) == 0) {
    return false;
  } else {
    char const* given[] = {provided_name(static_cast<Provided*>(nullptr))...};
    char const* asked[] = {name_in<Fetches>::value.characters...};
    for (char const* name : given) {
      for (char const* other : asked) {
        if (same_text(name, other)) return true;
      }
    }
    return false;
  }
}

template <class Hook>
inline constexpr bool declares_order = has_runs_before<Hook> || has_runs_after<Hook> || is_check<Hook> ||
                                       is_saver<Hook> || !std::is_same_v<provided_by_t<Hook>, type_list<>>;

// --- the sort -------------------------------------------------------------------------------------------------------

template <std::size_t Count>
struct ordering {
  std::size_t opening[Count == 0 ? 1 : Count]{};  ///< begin, after_create_session, before_run
  std::size_t closing[Count == 0 ? 1 : Count]{};  ///< after_run, on_error, end, close
  std::size_t cycle = Count;                      ///< a hook in a cycle; `Count` if there is none
};

template <std::size_t Count>
struct relations {
  bool before[Count == 0 ? 1 : Count][Count == 0 ? 1 : Count]{};
};

/// Writes down what one hook declares: `known.before[a][b]` if a has to come before b.
template <class Hook, std::size_t Count, class... Hooks, class... Fetches>
consteval void relate(relations<Count>& known, std::size_t self, type_list<Hooks...>, type_list<Fetches...>) {
  [[maybe_unused]] std::size_t other = 0;
  if constexpr (has_runs_before<Hook>) {
    other = 0;
    ((known.before[self][other] |= is_one_of<Hooks>(typename Hook::runs_before{}), ++other), ...);
  }
  if constexpr (has_runs_after<Hook>) {
    other = 0;
    ((known.before[other][self] |= is_one_of<Hooks>(typename Hook::runs_after{}), ++other), ...);
  }
  if constexpr (is_check<Hook>) {
    other = 0;
    ((known.before[self][other] |= is_saver<Hooks>, ++other), ...);
  }
  if constexpr (!std::is_same_v<provided_by_t<Hook>, type_list<>>) {
    other = 0;
    ((known.before[self][other] |= gives_any(provided_by_t<Hook>{}, Fetches{}), ++other), ...);
  }
  known.before[self][self] = false;
}

/// Hooks none of which declares anything stay in the order of the arguments.
template <std::size_t Count>
consteval void sort_by_argument(std::size_t* sorted) {
  for (std::size_t i = 0; i < Count; ++i) sorted[i] = i;
}

/// The first hook in argument order of which all predecessors have been placed, again and again.
/// @return a hook of a cycle, or `Count` if all were placed
template <std::size_t Count>
consteval std::size_t sort_by_relation(relations<Count> const& known, std::size_t* sorted) {
  std::size_t missing[Count]{};  // predecessors that have not been placed
  for (std::size_t a = 0; a < Count; ++a) {
    for (std::size_t b = 0; b < Count; ++b) missing[b] += known.before[a][b] ? 1 : 0;
  }
  constexpr std::size_t placed = Count + 1;
  for (std::size_t place = 0; place < Count; ++place) {
    std::size_t next = 0;
    while (next < Count && missing[next] != 0) ++next;
    if (next == Count) {
      // walk back along predecessors: after Count steps we are within the cycle
      std::size_t at = 0;
      while (missing[at] == placed) ++at;
      for (std::size_t steps = 0; steps < Count; ++steps) {
        std::size_t other = 0;
        while (missing[other] == placed || !known.before[other][at]) ++other;
        at = other;
      }
      return at;
    }
    missing[next] = placed;
    sorted[place] = next;
    for (std::size_t b = 0; b < Count; ++b) {
      if (known.before[next][b] && missing[b] != placed) --missing[b];
    }
  }
  return Count;
}

/// Outermost hooks go to the front of the opening order and, nested, to the back of the closing one.
template <std::size_t Count>
consteval ordering<Count> with_outermost(std::size_t const* sorted, bool const* outermost) {
  ordering<Count> result;
  std::size_t front = 0;
  for (std::size_t i = 0; i < Count; ++i) {
    if (outermost[sorted[i]]) result.opening[front++] = sorted[i];
  }
  std::size_t back = Count;
  for (std::size_t i = 0; i < front; ++i) result.closing[--back] = result.opening[i];
  std::size_t inner = 0;
  for (std::size_t i = 0; i < Count; ++i) {
    if (!outermost[sorted[i]]) {
      result.opening[front++] = sorted[i];
      result.closing[inner++] = sorted[i];
    }
  }
  return result;
}

/// What all hooks declare. Fetches: what each hook asks for, as a type_list of type_lists.
template <class... Hooks, class Fetches>
consteval auto relations_of(type_list<Hooks...> list, Fetches fetches) {
  relations<sizeof...(Hooks)> known;
  std::size_t self = 0;
  (relate<Hooks>(known, self++, list, fetches), ...);
  return known;
}

template <class Hooks, class Fetches>
struct order_by_types;
template <class... Hooks, class Fetches>
struct order_by_types<type_list<Hooks...>, Fetches> {
  static constexpr std::size_t count = sizeof...(Hooks);

  static consteval ordering<count> sort() {
    std::size_t sorted[count + 1]{};
    constexpr bool outermost[] = {is_outermost<Hooks>..., false};
    if constexpr ((false || ... || declares_order<Hooks>)) {
      std::size_t const cycle = sort_by_relation(relations_of(type_list<Hooks...>{}, Fetches{}), sorted);
      ordering<count> result = with_outermost<count>(sorted, outermost);
      result.cycle = cycle;
      return result;
    } else {
      sort_by_argument<count>(sorted);
      return with_outermost<count>(sorted, outermost);
    }
  }
  static constexpr ordering<count> value = sort();  // once for each list of hooks
};

/// Fetches: what each hook asks for, as a type_list of type_lists; a provider comes before those who ask.
template <class Hooks, class Fetches>
consteval auto order_of(Hooks, Fetches) {
  return order_by_types<Hooks, Fetches>::value;
}

/// `opening` or `closing` as an index sequence.
template <auto Order, class Indices>
struct opening_sequence;
template <auto Order, std::size_t... Index>
struct opening_sequence<Order, std::index_sequence<Index...>> {
  using type = std::index_sequence<Order.opening[Index]...>;
  using reversed = std::index_sequence<Order.closing[Index]...>;
};

}  // namespace detail
TAUTLINE_END
