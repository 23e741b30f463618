// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow/ops.hpp>

#include <set>

#include <tautline/sessions/tensorflow/ops/variables.hpp>

// What a graph that was built in C++, as a whole or in part, gets for its life before it is finalized.

TAUTLINE_BEGIN
namespace tensorflow {
namespace detail {

/// All nodes that run with this one.
[[nodiscard]] inline std::set<TF_Operation*> nodes_run_by(TF_Operation* target) {
  auto const found = operations_before({target}, true);
  return {found.begin(), found.end()};
}

/// The variables to which one of these nodes assigns, for a restore or an initial value.
[[nodiscard]] inline std::set<TF_Operation*> assigned_by(std::set<TF_Operation*> const& nodes) {
  std::set<TF_Operation*> found;
  for (TF_Operation* const node : nodes) {
    std::string_view const type = TF_OperationOpType(node);
    if (type == "AssignVariableOp" || type == "Assign") found.insert(TF_OperationInput({node, 0}).oper);
  }
  return found;
}

/// Adds to an op that initialises, which may be null, what it leaves out: the assignment of each of these variables to
/// which nothing in it assigns, and `more`. @return its name; empty for none
[[nodiscard]] inline std::string completed(building& graph, TF_Operation* given, char const* name,
                                           std::vector<found_variable> const& variables,
                                           std::vector<TF_Operation*> more) {
  auto const there = given == nullptr ? std::set<TF_Operation*>() : nodes_run_by(given);
  auto const assigned = assigned_by(there);
  std::erase_if(more, [&](TF_Operation* one) { return there.contains(one); });
  for (auto const& one : variables) {
    if (one.assign != nullptr && !assigned.contains(one.node)) more.push_back(one.assign);
  }
  if (more.empty()) return given == nullptr ? "" : TF_OperationName(given);
  if (given != nullptr) more.push_back(given);
  return add_node(graph.top, "NoOp", {name, false}, {}, {}, more).name();
}

/// Names a saver of all variables, if the one that there is leaves out some of these.
inline void complete_saver(building& graph, std::vector<found_variable> const& made) {
  scaffold& names = graph.parts.settings.scaffold;
  if (TF_Operation* const restore = graph.parts.find(names.saver_restore, "save/restore_all")) {
    auto const restored = assigned_by(nodes_run_by(restore));
    if (std::all_of(made.begin(), made.end(), [&](auto const& one) { return restored.contains(one.node); })) return;
  }
  std::string in = "save/";
  for (int i = 1; TF_GraphOperationByName(graph.graph, (in + "restore_all").c_str()) != nullptr; ++i) {
    in = "save_" + std::to_string(i) + "/";
  }
  variable_ops(&graph.top).add_saver(in);
  names.saver_filename = in + "Const:0";
  names.saver_save = in + "control_dependency:0";
  names.saver_restore = in + "restore_all";
}

/// Before the graph of a session is finalized: everything that was made in C++ is initialised and saved, with what an
/// imported graph has for that, or by ops that are added here.
inline void finish_building(building& graph) {
  graph_parts& parts = graph.parts;
  if (!parts.first.ok()) return;
  scaffold& names = parts.settings.scaffold;
  std::vector<found_variable> made, local;
  for (auto const& found : find_variables(graph.graph)) {
    auto const notes = graph.variables.find(found.name());
    if (notes != graph.variables.end()) (notes->second.local ? local : made).push_back(found);
  }
  if (made.empty() && local.empty() && graph.local_initializers.empty()) return;
  TF_Operation* const init = parts.find(names.init_op, "init");
  if (!made.empty()) {
    // imported variables without an init op of their own are initialised, too
    names.init_op = init == nullptr ? variable_ops(&graph.top).init().name() : completed(graph, init, "init", made, {});
  }
  names.local_init_op =
      completed(graph, parts.find(names.local_init_op, "local_init"), "local_init", local, graph.local_initializers);
  if (!made.empty()) complete_saver(graph, made);
}

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
