// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/sessions/tensorflow/ops/data.hpp>
#include <tautline/sessions/tensorflow/ops/finish.hpp>

// Graphs built in C++.

TAUTLINE_BEGIN
namespace tensorflow {

/// Builds a graph: the ops of TensorFlow, in snake_case.
///
///     auto ops = graph.ops();
///     auto x = ops.placeholder<float>("x", {-1, 64});
///     auto label = ops.placeholder<std::int64_t>("label", {-1});
///     auto w = ops.variable<float>("w", {64, 10}, random_normal{.stddev = 0.1, .seed = 1});
///     auto b = ops.variable<float>("b", {10}, 0.0f);
///     auto loss = ops.reduce_mean(ops.sparse_softmax_cross_entropy_with_logits(label, ops.matmul(x, w) + b), "loss");
///     ops.minimize(loss, sgd{0.5}, ops.global_step(), "train");
///
/// A scope is a handle: it is good as long as the graph, and copies build the same graph.
///
/// **Errors** The first one is kept in `status()`, and names the node: an unknown op, a wrong shape or type, a name in
/// use. What is built after it is empty, and does no harm; `monitored` fails with it.
///
/// **Source** The C API of TensorFlow 2.21; names of nodes as in its `tf.compat.v1`
class scope : public detail::data_ops {
 public:
  using building = detail::building;
  explicit scope(detail::building& graph) : data_ops(&graph.top) {}

  /// New nodes are named `name/…`; in a scope within this one `outer/name/…`. The same name twice is the same scope.
  [[nodiscard]] scope name_scope(std::string_view name) const {
    scope made = copy();
    made.own().prefix += std::string(name) + "/";
    return made;
  }
  /// New nodes are put on this device: "/cpu:0", "/job:ps/task:0".
  [[nodiscard]] scope with_device(std::string_view device) const {
    scope made = copy();
    made.own().device = device;
    return made;
  }
  /// New nodes wait for these as well.
  [[nodiscard]] scope control_dependencies(std::vector<operation> const& before) const {
    scope made = copy();
    for (operation const& one : before) {
      if (!one) {
        where_->graph->fail(error_kind::invalid_argument, "control_dependencies: one of them is empty");
      } else {
        made.own().controls.push_back(one.handle());
      }
    }
    return made;
  }

  /// Any node of the graph by its name; empty, without an error, if there is none.
  [[nodiscard]] operation find(std::string const& name) const {
    return {where_, TF_GraphOperationByName(where_->graph->graph, name.c_str())};
  }
  /// Adds what a session needs of what was built here. For `tensorflow_graph`.
  void finish(detail::graph_parts&) const { detail::finish_building(*where_->graph); }

  /// The first error, or ok.
  [[nodiscard]] tautline::status status() const { return where_->graph->parts.first; }
  [[nodiscard]] TF_Graph* handle() const { return where_->graph->graph; }

 private:
  [[nodiscard]] scope copy() const {
    scope made = *this;
    made.where_ = &where_->graph->frames.emplace_back(*where_);
    return made;
  }
  [[nodiscard]] detail::frame& own() const { return where_->graph->frames.back(); }
};

}  // namespace tensorflow
TAUTLINE_END
