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
  requires requires { typename Hook::tags; }
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
concept has_runs_before = requires { typename Hook::runs_before; };
template <class Hook>
concept has_runs_after = requires { typename Hook::runs_after; };
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

/// Relations that stand in the hooks' types.
template <class A, class B>
constexpr bool declared_before() {
  bool found = false;
  if constexpr (has_runs_before<A>) found = found || is_one_of<B>(typename A::runs_before{});
  if constexpr (has_runs_after<B>) found = found || is_one_of<A>(typename B::runs_after{});
  if constexpr (is_check<A> && is_saver<B>) found = true;
  return found;
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

/// Fetches: what each hook asks for, as a type_list of type_lists; a provider comes before those who ask.
template <class... Hooks, class... Fetches>
consteval auto relate(type_list<Hooks...>, type_list<Fetches...>) {
  constexpr std::size_t count = sizeof...(Hooks);
  relations<count> found;
  if constexpr ((false || ... || declares_order<Hooks>)) {
    auto const row = [&]<class A>(type_list<A>, std::size_t a) {
      std::size_t b = 0;
      ((found.before[a][b] = found.before[a][b] || (a != b && declared_before<A, Hooks>()), ++b), ...);
      if constexpr (!std::is_same_v<provided_by_t<A>, type_list<>>) {
        b = 0;
        ((found.before[a][b] = found.before[a][b] || (a != b && gives_any(provided_by_t<A>{}, Fetches{})), ++b), ...);
      }
    };
    std::size_t a = 0;
    (row(type_list<Hooks>{}, a++), ...);
  }
  return found;
}

/// The first hook in argument order of which all predecessors have been placed, again and again. Outermost hooks
/// then go to the front of the opening order and, nested, to the back of the closing one.
template <std::size_t Count>
consteval ordering<Count> sort_hooks(relations<Count> const& known, bool const* outermost) {
  ordering<Count> result;
  std::size_t sorted[Count == 0 ? 1 : Count]{};
  bool placed[Count == 0 ? 1 : Count]{};
  for (std::size_t place = 0; place < Count; ++place) {
    std::size_t next = Count;
    for (std::size_t candidate = 0; candidate < Count && next == Count; ++candidate) {
      bool free = !placed[candidate];
      for (std::size_t other = 0; other < Count; ++other) {
        if (!placed[other] && other != candidate && known.before[other][candidate]) free = false;
      }
      if (free) next = candidate;
    }
    if (next == Count) {
      // walk back along predecessors: after Count steps we are within the cycle
      std::size_t at = 0;
      while (placed[at]) ++at;
      for (std::size_t steps = 0; steps < Count; ++steps) {
        for (std::size_t other = 0; other < Count; ++other) {
          if (!placed[other] && other != at && known.before[other][at]) {
            at = other;
            break;
          }
        }
      }
      result.cycle = at;
      return result;
    }
    placed[next] = true;
    sorted[place] = next;
  }
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

template <class... Hooks, class Fetches>
consteval auto order_of(type_list<Hooks...> list, Fetches fetches) {
  constexpr bool outermost[] = {is_outermost<Hooks>..., false};
  return sort_hooks<sizeof...(Hooks)>(relate(list, fetches), outermost);
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
