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

}  // namespace detail
TAUTLINE_END
