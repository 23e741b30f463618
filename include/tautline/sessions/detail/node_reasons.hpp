// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/static_graph.hpp>

#include <tautline/core/diagnose.hpp>

TAUTLINE_BEGIN
namespace detail {

// Why a node is refused. @see tautline/core/diagnose.hpp

/// As `mended`, in this file: g++ names the reason where the concept stands.
template <class Reason>
concept node_is_mended = is_mended<Reason>;

template <fixed_string Node, fixed_string UnknownInput, class GraphHas>
struct unknown_input : reason {
  static consteval void say() {
    static_assert(node_is_mended<unknown_input>,
                  "tautline: a node uses an input that is no value of the graph (yet). Mend: use one of the names that are "
                  "listed beside this message behind the node and the input, or add the input before the node");
  }
};
template <fixed_string Name, class OldNode, class NewNode>
struct node_name_is_taken : reason {
  static consteval void say() {
    static_assert(node_is_mended<node_name_is_taken>,
                  "tautline: the graph has a node of this name with another callable or value type. Mend: give the new "
                  "node a name of its own; only the very same node may be added twice");
  }
};
template <fixed_string Name, class Callable, class... Inputs>
struct wrong_callable : reason {
  static consteval void say() {
    static_assert(node_is_mended<wrong_callable>,
                  "tautline: this node's callable cannot be called with the node's inputs; their types stand beside this "
                  "message, behind the callable's. Mend: give it one parameter for each input, in their order");
  }
};
template <fixed_string Name, class Value, class Callable>
struct wrong_source : reason {
  static consteval void say() {
    static_assert(node_is_mended<wrong_source>,
                  "tautline: a source is a callable `bool next(value&)`: true with an element, false at the end, and this one "
                  "is not. Mend: return bool, and take the value by reference");
  }
};
template <fixed_string Name, class Value>
struct unsaved_variable : reason {
  static consteval void say() {
    static_assert(node_is_mended<unsaved_variable>,
                  "tautline: this session saves checkpoints, and this variable's type is no tensor that could be saved. Mend: "
                  "make it a number, or an array or vector of them, give its class `auto state()`, or specialise "
                  "tautline::tensor_traits for it");
  }
};
template <fixed_string Name, class Callable>
struct unsaved_source : reason {
  static consteval void say() {
    static_assert(node_is_mended<unsaved_source>,
                  "tautline: this session saves checkpoints, and this source does not say where it stands, so a resumed "
                  "training would see other data. Mend: make its callable a class with `auto state()` that returns "
                  "tautline::fields{field<\"position\">(position_), ...}, or wrap it: tautline::unsaved(callable)");
  }
};

}  // namespace detail
TAUTLINE_END
