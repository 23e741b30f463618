// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/session_core.hpp>

TAUTLINE_BEGIN
namespace detail {

/// How many hooks before this one have the same label.
template <std::size_t Count>
consteval int earlier_of_same_label(char const* const (&labels)[Count], std::size_t place) {
  int count = 0;
  for (std::size_t i = 0; i < place; ++i) count += same_text(labels[i], labels[place]) ? 1 : 0;
  return count;
}

/// By what a hook's state is known in a checkpoint; of several with one key the second is "…#2".
template <class Core, std::size_t Index>
inline constexpr auto full_state_key = [] {
  static_text<132> key;
  key.append(Core::state_keys[Index]);
  if (int const earlier = earlier_of_same_label(Core::state_keys, Index); earlier > 0) {
    char const digits[] = {'#', static_cast<char>('0' + (earlier + 1) / 10), static_cast<char>('0' + (earlier + 1) % 10), 0};
    if (earlier < 9) {
      key.append(digits, 1);
      key.append(digits + 2);
    } else {
      key.append(digits);
    }
  }
  return key;
}();
template <class Core, std::size_t Index>
inline constexpr auto state_key = trimmed<full_state_key<Core, Index>.length>(full_state_key<Core, Index>);

template <class Core>
class events;

/// A training's state as one view, made of a session with all its types.
template <class Core>
class saved_state {
 public:
  static training_state view(Core& core) { return {&core, functions, core.state.completed, core.state.told_sessions}; }

 private:
  struct erased_visit {
    void* visitor;
    training_state::item_visit visit;
    void operator()(state_item const& item) const { visit(visitor, item); }
  };
  struct erased_node_visit {
    void* visitor;
    training_state::node_visit visit;
    void operator()(node_info const& node) const { visit(visitor, node); }
  };

  static void items(void* core, void* visitor, training_state::item_visit visit) {
    Core& from = *static_cast<Core*>(core);
    erased_visit const told{visitor, visit};
    if constexpr (requires { from.backend.each_state(told); }) from.backend.each_state(told);
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      (hook_items<Index>(from, told), ...);
    }(typename Core::indices{});
  }
  static void nodes(void* core, [[maybe_unused]] void* visitor, [[maybe_unused]] training_state::node_visit visit) {
    [[maybe_unused]] Core& from = *static_cast<Core*>(core);
    if constexpr (requires { from.backend.each_node(erased_node_visit{visitor, visit}); }) {
      from.backend.each_node(erased_node_visit{visitor, visit});
    }
  }

  static status read([[maybe_unused]] void* core) {
    if constexpr (requires(Core& from) { from.backend.read_state(); }) {
      return static_cast<Core*>(core)->backend.read_state();
    } else {
      return {};
    }
  }
  static void* backend([[maybe_unused]] void* core, [[maybe_unused]] void const* kind) {
    using backend_type = typename Core::backend_type;
    if constexpr (requires { typename backend_type::erased; }) {
      if (kind == &kind_of_backend<typename backend_type::erased>) return &static_cast<Core*>(core)->backend.erase();
    } else {
      if (kind == &kind_of_backend<backend_type>) return &static_cast<Core*>(core)->backend;
    }
    return nullptr;
  }

  template <std::size_t Index>
  static void hook_items(Core& from, erased_visit const& told) {
    using hook_type = typename Core::template hook_type<Index>;
    auto& place = from.template place<Index>();
    [[maybe_unused]] state_item item;
    item.group = state_group::hook;
    item.owner = state_key<Core, Index>.characters;
    if constexpr (lists_state<hook_type>) visit_fields<"">(item, place.hook(), told);
    if constexpr (has_trigger<hook_type>) {
      if constexpr (flag_count<typename Core::template leaf_type<Index>::trigger_type>() > 0) {
        // what the trigger remembers is packed; a restorer may write to it
        std::uint64_t const before = place.hook().trigger.flags(place.trigger.kept);
        std::uint64_t bits = before;
        item.field = trigger_field;
        item.view = view_tensor(bits);
        item.object = &bits;
        told(item);
        if (bits != before) {
          place.hook().trigger.set_flags(place.trigger.kept, bits);
          static_cast<events<Core>&>(from).ask_triggers();
        }
      }
    }
  }

  static constexpr training_state::functions functions{&items, &nodes, &read, &backend};
};

}  // namespace detail
TAUTLINE_END
