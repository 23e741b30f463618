// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tautline/core/training_state.hpp>
#include <tautline/sessions/tensorflow/names.hpp>
#include <tautline/sessions/tensorflow/tensor.hpp>

TAUTLINE_BEGIN
namespace tensorflow {
namespace detail {

/// The nodes of a graph, as checkpoints and event files describe them; those below "tautline/" are left out. Names
/// are the graph's own, which outlives this.
class graph_description {
 public:
  [[nodiscard]] bool empty() const { return nodes_.empty(); }

  void read(TF_Graph* graph) {
    std::vector<std::size_t> first_inputs;
    status_handle const done = new_status();
    each_operation(graph, [&](TF_Operation* operation) {
      if (std::string_view(TF_OperationName(operation)).starts_with("tautline/")) return;
      node_info node;
      node.name = TF_OperationName(operation);
      node.kind = TF_OperationOpType(operation);
      first_inputs.push_back(inputs_.size());
      for (int i = 0; i < TF_OperationNumInputs(operation); ++i) {
        inputs_.push_back(TF_OperationName(TF_OperationInput({operation, i}).oper));
      }
      node.input_count = inputs_.size() - first_inputs.back();
      if (TF_OperationNumOutputs(operation) > 0) describe(graph, {operation, 0}, node, done.get());
      nodes_.push_back(node);
    });
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].inputs = inputs_.data() + first_inputs[i];
  }
  template <class Visit>
  void each(Visit const& visit) const {
    for (node_info const& node : nodes_) visit(node);
  }

 private:
  static void describe(TF_Graph* graph, TF_Output output, node_info& node, TF_Status* done) {
    auto const type = element_type_of(static_cast<TF_DataType>(TF_OperationOutputType(output)));
    int const rank = TF_GraphGetTensorNumDims(graph, output, done);
    if (!type || TF_GetCode(done) != TF_OK || rank < 0 || rank > static_cast<int>(tensor_view::max_rank)) return;
    TF_GraphGetTensorShape(graph, output, node.form.shape, rank, done);
    if (TF_GetCode(done) != TF_OK) return;
    for (int i = 0; i < rank; ++i) {
      if (node.form.shape[i] < 0) return;
    }
    node.form.type = *type;
    node.form.rank = static_cast<std::uint8_t>(rank);
    node.has_form = true;
  }

  std::vector<node_info> nodes_;
  std::vector<char const*> inputs_;
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
