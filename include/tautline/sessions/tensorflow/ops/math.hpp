// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow/ops.hpp>

#include <tautline/sessions/tensorflow/ops/node.hpp>

// Placeholders, constants, arithmetic and the usual functions of neural networks.

TAUTLINE_BEGIN
namespace tensorflow {
namespace detail {

/// The part of `scope` that makes nodes. Every function takes a name as its last argument: one that is given must be
/// free, and is what fetches, feeds and targets use; without one it is the op's, made free by a number.
class math_ops {
 public:
  using name_type = std::string_view;

  explicit math_ops(frame const* where) : where_(where) {}
  [[nodiscard]] frame const* where() const { return where_; }

  /// Any op of TensorFlow, by its name there: `op("Pad", "padded", {x, paddings})`, `op("Pack", "", {list}, {{"axis",
  /// 1}})`.
  operation op(std::string const& type, name_type name, std::vector<argument> const& inputs = {},
               std::vector<attribute> const& attributes = {}) const {
    for (attribute const& one : attributes) {
      if (has_attribute(where_->graph->graph, type, one.name())) continue;
      where_->graph->fail(error_kind::invalid_argument, "node '" + where_->prefix + std::string(name) + "' (" + type +
                                                            "): the op has no attribute '" + one.name() + "'");
    }
    return add_node(*where_, type, named(name, type), inputs, attributes);
  }

  /// A value that must be fed in every run that needs it.
  template <graph_element Element>
  output placeholder(name_type name, shape const& form = shape::unknown()) const {
    return op("Placeholder", name, {}, {{"dtype", graph_type<Element>()}, {"shape", form}})[0];
  }
  /// A value that may be fed. @param form what may be fed; the default must fit it
  output placeholder_with_default(output const& value, shape const& form, name_type name = {}) const {
    return op("PlaceholderWithDefault", name, {value}, {{"shape", form}})[0];
  }

  output constant(constant_value const& value, name_type name = {}) const {
    auto const type = value.handle() == nullptr ? TF_FLOAT : TF_TensorType(value.handle());
    return op("Const", name, {}, {{"value", value}, {"dtype", type}})[0];
  }
  /// `constant<float>({1, 2, 3, 4}, {2, 2})`
  template <graph_element Element>
  requires(!string_like<Element> && !std::is_same_v<Element, bool>) output
      constant(std::initializer_list<Element> values, shape const& form, name_type name = {})
  const { return constant(constant_value(std::span<Element const>(values.begin(), values.size()), form), name); }
  template <graph_element Element>
  requires(!string_like<Element> && !std::is_same_v<Element, bool>) output
      constant(std::initializer_list<Element> values)
  const { return constant(values, shape(values.size())); }
  /// Zeros of any shape; `fill` for other numbers.
  template <graph_element Element>
  output zeros(shape const& form, name_type name = {}) const {
    return fill<Element>(form, 0, name);
  }
  template <graph_element Element>
  output fill(shape const& form, double number, name_type name = {}) const {
    return filled(*where_, graph_type<Element>(), form, number, named(name, "Const"));
  }

  output identity(output const& x, name_type name = {}) const { return one("Identity", name, {x}); }
  /// No gradient flows through it.
  output stop_gradient(output const& x, name_type name = {}) const { return one("StopGradient", name, {x}); }
  template <graph_element Element>
  output cast(output const& x, name_type name = {}) const {
    return op("Cast", name, {x}, {{"DstT", graph_type<Element>()}})[0];
  }
  /// @param form with at most one -1: what remains
  output reshape(output const& x, shape const& form, name_type name = {}) const {
    return one("Reshape", name, {x, ints(form.sizes(), "shape")});
  }

  output add(output const& l, output const& r, name_type name = {}) const { return one("AddV2", name, {l, r}); }
  output sub(output const& l, output const& r, name_type name = {}) const { return one("Sub", name, {l, r}); }
  output mul(output const& l, output const& r, name_type name = {}) const { return one("Mul", name, {l, r}); }
  /// Of numbers with a point; for whole ones `op("FloorDiv", …)`.
  output div(output const& l, output const& r, name_type name = {}) const { return one("RealDiv", name, {l, r}); }
  output maximum(output const& l, output const& r, name_type name = {}) const { return one("Maximum", name, {l, r}); }
  output minimum(output const& l, output const& r, name_type name = {}) const { return one("Minimum", name, {l, r}); }
  output neg(output const& x, name_type name = {}) const { return one("Neg", name, {x}); }
  output abs(output const& x, name_type name = {}) const { return one("Abs", name, {x}); }
  output square(output const& x, name_type name = {}) const { return one("Square", name, {x}); }
  output sqrt(output const& x, name_type name = {}) const { return one("Sqrt", name, {x}); }
  output exp(output const& x, name_type name = {}) const { return one("Exp", name, {x}); }
  output log(output const& x, name_type name = {}) const { return one("Log", name, {x}); }
  output add_n(std::vector<output> const& list, name_type name = {}) const { return one("AddN", name, {list}); }

  /// [n, k] · [k, m] -> [n, m]
  output matmul(output const& l, output const& r, name_type name = {}) const { return one("MatMul", name, {l, r}); }
  output matmul(output const& l, output const& r, bool transpose_l, bool transpose_r, name_type name = {}) const {
    return op("MatMul", name, {l, r}, {{"transpose_a", transpose_l}, {"transpose_b", transpose_r}})[0];
  }
  /// [..., m] + [m]
  output bias_add(output const& x, output const& bias, name_type name = {}) const {
    return one("BiasAdd", name, {x, bias});
  }
  output relu(output const& x, name_type name = {}) const { return one("Relu", name, {x}); }
  output sigmoid(output const& x, name_type name = {}) const { return one("Sigmoid", name, {x}); }
  output tanh(output const& x, name_type name = {}) const { return one("Tanh", name, {x}); }
  /// Over the last dimension.
  output softmax(output const& x, name_type name = {}) const { return one("Softmax", name, {x}); }
  output log_softmax(output const& x, name_type name = {}) const { return one("LogSoftmax", name, {x}); }

  /// Over all axes; of a scalar, the scalar.
  output reduce_mean(output const& x, name_type name = {}) const { return reduce("Mean", x, all_axes(x), name); }
  output reduce_sum(output const& x, name_type name = {}) const { return reduce("Sum", x, all_axes(x), name); }
  output reduce_max(output const& x, name_type name = {}) const { return reduce("Max", x, all_axes(x), name); }
  output reduce_min(output const& x, name_type name = {}) const { return reduce("Min", x, all_axes(x), name); }
  /// Over the axes that are given; a negative one counts from the last.
  output reduce_mean(output const& x, std::initializer_list<std::int64_t> axes, name_type name = {}) const {
    return reduce("Mean", x, ints(std::vector(axes), "reduction_indices"), name);
  }
  output reduce_sum(output const& x, std::initializer_list<std::int64_t> axes, name_type name = {}) const {
    return reduce("Sum", x, ints(std::vector(axes), "reduction_indices"), name);
  }
  output reduce_max(output const& x, std::initializer_list<std::int64_t> axes, name_type name = {}) const {
    return reduce("Max", x, ints(std::vector(axes), "reduction_indices"), name);
  }
  output reduce_min(output const& x, std::initializer_list<std::int64_t> axes, name_type name = {}) const {
    return reduce("Min", x, ints(std::vector(axes), "reduction_indices"), name);
  }

  /// int64, without the axis.
  output argmax(output const& x, std::int64_t axis, name_type name = {}) const {
    return one("ArgMax", name, {x, whole(axis, "dimension")});
  }
  /// bool, element by element.
  output equal(output const& l, output const& r, name_type name = {}) const { return one("Equal", name, {l, r}); }
  /// Of whole numbers, [n] -> [n, depth]; `Element` is that of the result.
  template <graph_element Element>
  output one_hot(output const& indices, std::int64_t depth, name_type name = {}) const {
    auto const type = graph_type<Element>();
    return op("OneHot", name,
              {indices, whole(depth, "depth"), filled(*where_, type, {}, 1, {"on_value", false}),
               filled(*where_, type, {}, 0, {"off_value", false})})[0];
  }

  /// For each row: the cross entropy of `labels` (probabilities, [n, k]) and softmax(`logits`) ([n, k]), in nats: [n].
  output softmax_cross_entropy_with_logits(output const& labels, output const& logits, name_type name = {}) const {
    return one("SoftmaxCrossEntropyWithLogits", name, {logits, labels});
  }
  /// Likewise with the class of each row as a whole number, [n]. TensorFlow's C++ library has no derivative of this op,
  /// so one is made here: the value and the derivative are those of Python to the bit, as long as the logits are
  /// finite.
  output sparse_softmax_cross_entropy_with_logits(output const& labels, output const& logits,
                                                  name_type name = {}) const {
    operation const both = op("SparseSoftmaxCrossEntropyWithLogits", {}, {logits, labels});
    // the op's second value is its derivative by the logits: a sum that has it, less itself, adds nothing to the first
    output const slope = reduce_sum(mul(stop_gradient(both[1]), logits), {-1});
    return add(stop_gradient(both[0]), sub(slope, stop_gradient(slope)), name);
  }
  /// Half the sum of the squares.
  output l2_loss(output const& x, name_type name = {}) const { return one("L2Loss", name, {x}); }

  /// Done when all of these are.
  operation group(std::vector<operation> const& all, name_type name = {}) const {
    std::vector<TF_Operation*> controls;
    for (operation const& one : all) {
      if (!one)
        where_->graph->fail(error_kind::invalid_argument, "node '" + std::string(name) + "' (NoOp): a part is empty");
      controls.push_back(one.handle());
    }
    if (!where_->graph->ok()) return {where_, nullptr};
    return add_node(*where_, "NoOp", named(name, "group_deps"), {}, {}, controls);
  }
  operation no_op(name_type name = {}) const { return op("NoOp", name); }

 protected:
  [[nodiscard]] static node_name named(name_type given, std::string_view otherwise) {
    return given.empty() ? node_name{otherwise, false} : node_name{given, true};
  }
  output one(char const* type, name_type name, std::vector<argument> const& inputs) const {
    return op(type, name, inputs)[0];
  }
  output whole(std::int64_t number, char const* name) const {
    return add_node(*where_, "Const", {name, false}, {},
                    {{"value", constant_value(static_cast<std::int32_t>(number))}, {"dtype", TF_INT32}})[0];
  }
  output ints(std::vector<std::int64_t> const& numbers, char const* name) const {
    std::vector<std::int32_t> const narrow(numbers.begin(), numbers.end());
    return add_node(*where_, "Const", {name, false}, {}, {{"value", constant_value(narrow)}, {"dtype", TF_INT32}})[0];
  }
  output all_axes(output const& x) const {
    int const rank = x.known_shape().rank();
    if (rank < 0) {  // known in the run
      output const zero = whole(0, "start"), step = whole(1, "delta");
      return one("Range", {}, {zero, one("Rank", {}, {x}), step});
    }
    std::vector<std::int64_t> axes;
    for (int i = 0; i < rank; ++i) axes.push_back(i);
    return ints(axes, "Const");
  }
  output reduce(char const* type, output const& x, output const& axes, name_type name) const {
    return one(type, name, {x, axes});
  }

  frame const* where_;
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
