// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN
namespace detail {

/// Some of the hooks: those that see a run, or that an event concerns.
template <std::size_t Count>
struct hook_mask {
  bool on[Count + 1]{};
};

template <std::size_t Count>
struct kept_indices {
  std::size_t at[Count + 1]{};
  std::size_t count = 0;
};

/// Those indices of a sequence that are on in `Test::mask()`, in their order. Folds then instantiate nothing for the
/// hooks that an event does not concern: of 64 hooks few have a `begin`.
template <class Test, class Sequence>
struct filter;
template <class Test, std::size_t... Index>
struct filter<Test, std::index_sequence<Index...>> {
  static consteval auto keep() {
    [[maybe_unused]] constexpr auto mask = Test::mask();
    kept_indices<sizeof...(Index)> found;
    ((mask.on[Index] ? void(found.at[found.count++] = Index) : void()), ...);
    return found;
  }
  static constexpr auto kept = keep();
  template <std::size_t... Place>
  static auto expand(std::index_sequence<Place...>) -> std::index_sequence<kept.at[Place]...>;
  using type = decltype(expand(std::make_index_sequence<kept.count>{}));
};
template <class Test, class Sequence>
using filter_t = typename filter<Test, Sequence>::type;

/// The same where it is known already whether there is any: mostly there is none, and that costs nothing to compile.
template <bool Any, class Test, class Sequence>
struct filter_if {
  using type = std::index_sequence<>;
};
template <class Test, class Sequence>
struct filter_if<true, Test, Sequence> : filter<Test, Sequence> {};
template <bool Any, class Test, class Sequence>
using filter_if_t = typename filter_if<Any, Test, Sequence>::type;

/// Of the hooks that are on those that stand beside another one in the sequence.
template <std::size_t Count, std::size_t... Index>
consteval hook_mask<Count> with_neighbours(hook_mask<Count> on, std::index_sequence<Index...>) {
  std::size_t const at[sizeof...(Index) + 1] = {Index...};
  hook_mask<Count> found;
  for (std::size_t place = 1; place < sizeof...(Index); ++place) {
    if (on.on[at[place - 1]] && on.on[at[place]]) found.on[at[place - 1]] = found.on[at[place]] = true;
  }
  return found;
}

/// Neighbours in a sequence of which `Test` says the same.
template <bool Passes, class Sequence>
struct group {};
template <class... Groups>
struct group_list {};

template <std::size_t Count>
struct group_bounds {
  std::size_t first[Count + 1]{};  // places in the sequence; one more behind the last group
  bool passes[Count + 1]{};
  std::size_t count = 0;
};

/// A sequence cut where the answer of `Test::mask()` changes: `group_list<group<false, 0, 1>, group<true, 4>, …>`.
template <class Test, class Sequence>
struct grouped;
template <class Test, std::size_t... Index>
struct grouped<Test, std::index_sequence<Index...>> {
  static constexpr std::size_t length = sizeof...(Index);
  static constexpr std::size_t at[length + 1] = {Index...};
  static consteval auto find() {
    [[maybe_unused]] constexpr auto mask = Test::mask();
    group_bounds<length> bounds;
    for (std::size_t place = 0; place < length; ++place) {
      bool const passes = mask.on[at[place]];
      if (place > 0 && bounds.passes[bounds.count - 1] == passes) continue;
      bounds.passes[bounds.count] = passes;
      bounds.first[bounds.count++] = place;
    }
    bounds.first[bounds.count] = length;
    return bounds;
  }
  static constexpr auto found = find();
  template <std::size_t First, std::size_t... Place>
  static auto cut(std::index_sequence<Place...>) -> std::index_sequence<at[First + Place]...>;
  template <std::size_t... Group>
  static auto expand(std::index_sequence<Group...>)
      -> group_list<group<found.passes[Group], decltype(cut<found.first[Group]>(
                              std::make_index_sequence<found.first[Group + 1] - found.first[Group]>{}))>...>;
  using type = decltype(expand(std::make_index_sequence<found.count>{}));
};
/// Without a hook that passes, which is known, all is one group.
template <bool Any, class Test, class Sequence>
struct grouped_if {
  using type = group_list<group<false, Sequence>>;
};
template <class Test, class Sequence>
struct grouped_if<true, Test, Sequence> : grouped<Test, Sequence> {};
template <bool Any, class Test, class Sequence>
using grouped_if_t = typename grouped_if<Any, Test, Sequence>::type;

}  // namespace detail
TAUTLINE_END
