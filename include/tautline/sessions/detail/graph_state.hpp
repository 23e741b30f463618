// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/static_graph.hpp>

#include <tautline/core/check_run.hpp>
#include <tautline/core/training_state.hpp>
#include <tautline/sessions/detail/graph_node.hpp>
#include <tautline/sessions/detail/node_reasons.hpp>

// What a checkpoint holds of a node, and how a description shows it.

TAUTLINE_BEGIN
namespace detail {

template <class Node>
concept has_call = requires(Node& node) { node.call; };

template <class Node, class Visit>
constexpr void visit_node_state([[maybe_unused]] Node& node, [[maybe_unused]] Visit const& visit) {
  state_item item;
  item.owner = name_of<Node::name>;
  if constexpr (Node::kind == node_kind::variable) {
    item.group = state_group::variable;
    visit_field<"">(item, node.value, visit);
  } else if constexpr (has_call<Node>) {
    item.group = state_group::input;
    if constexpr (lists_state<decltype(node.call)>) visit_fields<"">(item, node.call, visit);
  }
}

template <fixed_string... Inputs>
inline constexpr char const* input_names[] = {name_of<Inputs>..., nullptr};
template <fixed_string... Inputs>
constexpr void list_inputs(node_info& info, names<Inputs...>) {
  info.inputs = input_names<Inputs...>;
  info.input_count = sizeof...(Inputs);
}

template <class Node, class Visit>
constexpr void visit_node_info(Node& node, Visit const& visit) {
  constexpr char const* kinds[] = {"variable", "placeholder", "source", "op", "update"};
  node_info info;
  info.name = name_of<Node::name>;
  info.kind = kinds[static_cast<std::size_t>(Node::kind)];
  list_inputs(info, typename Node::inputs{});
  if constexpr (tensor_value<typename Node::value_type>) {
    info.has_form = true;
    if constexpr (Node::kind == node_kind::placeholder) {
      info.form = view_tensor(node.by_default);
    } else {
      info.form = view_tensor(node.value);
    }
    info.form.data = nullptr;
  }
  visit(static_cast<node_info const&>(info));
}

template <class Node>
consteval auto check_node_state() {
  if constexpr (Node::kind == node_kind::variable) {
    return fine_or<tensor_value<typename Node::value_type> || lists_state<typename Node::value_type>,
                   unsaved_variable<Node::name, typename Node::value_type>>();
  } else if constexpr (Node::kind == node_kind::source) {
    using callable = decltype(Node::call);
    return fine_or<lists_state<callable> || stateless<callable>, unsaved_source<Node::name, callable>>();
  } else {
    return fine{};
  }
}

}  // namespace detail
TAUTLINE_END
