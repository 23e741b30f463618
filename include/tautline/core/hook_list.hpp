// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/hook.hpp>

TAUTLINE_BEGIN
namespace detail {

template <fixed_string Name, class Value>
constexpr char const* provided_name(provides<Name, Value>*) {
  return Name.characters;
}

template <class Value>
struct publication {
  Value value{};
  bool made = false;  // in this run
};

template <std::size_t Index, class Provided>
struct publication_leaf;
template <std::size_t Index, fixed_string Name, class Value>
struct publication_leaf<Index, provides<Name, Value>> {
  publication<Value> published;
};

template <std::size_t Index, class Provided>
struct publications;
template <std::size_t Index, class... Provided>
struct publications<Index, type_list<Provided...>> : publication_leaf<Index, Provided>... {
  constexpr void forget() { ((static_cast<publication_leaf<Index, Provided>&>(*this).published.made = false), ...); }
};

/// The memory of a hook's trigger. An empty one is not in the object: two of one type may not share an address, so that
/// each hook would take a byte.
template <std::size_t Index, class Memory, bool = std::is_empty_v<Memory>>
struct trigger_memory {
  Memory kept;
};
template <std::size_t Index, class Memory>
struct trigger_memory<Index, Memory, true> {
  static inline Memory kept{};
};

/// Of a trigger that counts by a value: the value when it was asked.
template <std::size_t Index, bool ByValue>
struct asked_step {};
template <std::size_t Index>
struct asked_step<Index, true> {
  step_number asked = 0;
};

template <std::size_t Index, class Trigger, bool AtEnd = fires_at_end<Trigger>>
struct trigger_slot : trigger_memory<Index, typename Trigger::memory>, asked_step<Index, counts_by_value<Trigger>> {};
template <std::size_t Index, class Trigger>
struct trigger_slot<Index, Trigger, true> : trigger_memory<Index, typename Trigger::memory>,
                                            asked_step<Index, counts_by_value<Trigger>> {
  step_number handled = any_step;  // the completed steps when the hook last acted
};

/// A hook and what the session keeps for it. Empty hooks without trigger and publications take no space.
template <std::size_t Index, class Kept>
struct leaf {
  using kept_type = Kept;
  using hook_type = hook_of<Kept>;
  using trigger_type = typename trigger_of<hook_type>::type;
  static constexpr bool triggered = has_trigger<hook_type>;

  [[no_unique_address]] typename entry<Kept>::stored stored;
  [[no_unique_address]] trigger_slot<Index, trigger_type> trigger;
  [[no_unique_address]] publications<Index, provided_by_t<hook_type>> published;

  TAUTLINE_INLINE constexpr hook_type& hook() {
    if constexpr (reference_like<typename entry<Kept>::stored>) {
      return stored.get();
    } else {
      return stored;
    }
  }
};

/// The static list: one base for each hook, found by index in constant time. No std::tuple: with 64 hooks that alone
/// costs a second to compile.
template <class Indices, class... Kept>
struct hook_list;

template <std::size_t... Index, class... Kept>
struct hook_list<std::index_sequence<Index...>, Kept...> : leaf<Index, Kept>... {
  template <class... Hooks>
  constexpr explicit hook_list(Hooks&&... given)
      : leaf<Index, Kept>{static_cast<Hooks&&>(given), {}, {}}... {}
};

/// The leaf with this index, looked for once among the bases.
template <std::size_t Index, class List>
struct leaf_at {
  template <class Kept>
  static auto find(leaf<Index, Kept>*) -> leaf<Index, Kept>;
  using type = decltype(find(static_cast<List*>(nullptr)));
};

}  // namespace detail
TAUTLINE_END
