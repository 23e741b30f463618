// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow/ops.hpp>

#include <tautline/sessions/tensorflow/ops/training.hpp>

// Inputs: data sets and iterators over them, whose end is the end of the session's input.

TAUTLINE_BEGIN
namespace tensorflow {

/// A place in a data set: each run that needs one of its outputs takes the next element. It is at the beginning
/// whenever a session has been made: its initializer is a part of the local initialisation.
class iterator {
 public:
  iterator() = default;
  iterator(operation next, operation initializer) : next_(next), initializer_(initializer) {}

  /// A component of the element, in the order of the slices.
  [[nodiscard]] output operator[](int component) const { return next_[component]; }
  /// The node that takes an element.
  [[nodiscard]] operation const& next() const { return next_; }
  /// The node that goes back to the beginning; a part of the local initialisation already.
  [[nodiscard]] operation const& initializer() const { return initializer_; }

 private:
  operation next_, initializer_;
};

/// A data set in the graph. Every call gives a new one.
///
///     auto input = ops.tensor_slices({features, labels}).shuffle(1000, 7).repeat(5).batch(32).iterator();
///     auto logits = ops.matmul(input[0], w);   // [batch, features]
class dataset {
 public:
  dataset() = default;
  dataset(output raw, std::vector<TF_DataType> types, std::vector<shape> shapes)
      : raw_(raw), types_(std::move(types)), shapes_(std::move(shapes)) {}

  /// TensorFlow's handle of it (a variant), for ops that are not here.
  [[nodiscard]] output const& raw() const { return raw_; }

  /// @param count -1: without end
  [[nodiscard]] dataset repeat(std::int64_t count = -1) const {
    return made("RepeatDataset", {number(count, "count")}, shapes_);
  }
  /// The first `count` elements.
  [[nodiscard]] dataset take(std::int64_t count) const {
    return made("TakeDataset", {number(count, "count")}, shapes_);
  }
  /// All but the first `count` elements.
  [[nodiscard]] dataset skip(std::int64_t count) const {
    return made("SkipDataset", {number(count, "count")}, shapes_);
  }
  /// In a random order out of a window of `window` elements, another one in each repetition: that of Python's `shuffle`
  /// for the same seeds. @see op_seed
  [[nodiscard]] dataset shuffle(std::int64_t window, op_seed seed = {}) const {
    if (!raw_) return *this;
    auto const [first, second] = detail::random_ops(raw_.where()).seed_pair(seed);
    return made("ShuffleDataset", {number(window, "buffer_size"), number(first, "seed"), number(second, "seed2")},
                shapes_, {{"reshuffle_each_iteration", true}});
  }
  /// Elements one above the other, along a new first dimension of `size`; the last batch may be smaller.
  /// @param drop_remainder a last batch that is not full is left out, and the size is known
  [[nodiscard]] dataset batch(std::int64_t size, bool drop_remainder = false) const {
    std::vector<shape> batched;
    for (auto const& one : shapes_) {
      std::vector<std::int64_t> sizes{drop_remainder ? size : -1};
      sizes.insert(sizes.end(), one.sizes().begin(), one.sizes().end());
      batched.push_back(one.has_rank() ? shape(std::move(sizes)) : shape::unknown());
    }
    if (!raw_) return *this;
    output const drop = constant("drop_remainder", constant_value(drop_remainder), TF_BOOL);
    return made("BatchDatasetV2", {number(size, "batch_size"), drop}, batched);
  }

  /// @param name of the node that takes an element; "IteratorGetNext" without one
  [[nodiscard]] tensorflow::iterator iterator(std::string_view name = {}) const {
    if (!raw_) return {};
    auto const& where = *raw_.where();
    std::vector<attribute> const form{{"output_types", types_}, {"output_shapes", shapes_}};
    auto place_form = form;
    place_form.emplace_back("shared_name", "");
    place_form.emplace_back("container", "");
    output const place = detail::add_node(where, "IteratorV2", {"IteratorV2", false}, {}, place_form)[0];
    // control dependencies of this place do not hold up the initialisation
    auto& free = where.graph->frames.emplace_back(where);
    free.controls.clear();
    operation const initializer = detail::add_node(free, "MakeIterator", {"MakeIterator", false}, {raw_, place});
    if (initializer) where.graph->local_initializers.push_back(initializer.handle());
    detail::node_name const given =
        name.empty() ? detail::node_name{"IteratorGetNext", false} : detail::node_name{name, true};
    return {detail::add_node(where, "IteratorGetNext", given, {place}, form), initializer};
  }

 private:
  [[nodiscard]] output constant(char const* name, constant_value const& value, TF_DataType type) const {
    return detail::add_node(*raw_.where(), "Const", {name, false}, {}, {{"value", value}, {"dtype", type}})[0];
  }
  [[nodiscard]] output number(std::int64_t value, char const* name) const {
    return raw_ ? constant(name, constant_value(value), TF_INT64) : raw_;
  }
  [[nodiscard]] dataset made(char const* type, std::vector<argument> inputs, std::vector<shape> const& shapes,
                             std::vector<attribute> attributes = {}) const {
    if (!raw_) return *this;
    inputs.insert(inputs.begin(), raw_);
    attributes.emplace_back("output_types", types_);
    attributes.emplace_back("output_shapes", shapes);
    return {detail::add_node(*raw_.where(), type, {type, false}, inputs, attributes)[0], types_, shapes};
  }

  output raw_;
  std::vector<TF_DataType> types_;
  std::vector<shape> shapes_;
};

namespace detail {

class data_ops : public training_ops {
 public:
  using training_ops::training_ops;

  /// The elements along the first dimension of each of these, which all have the same size there.
  [[nodiscard]] dataset tensor_slices(std::vector<output> const& components) const {
    std::vector<TF_DataType> types;
    std::vector<shape> shapes;
    for (output const& one : components) {
      shape const form = one.known_shape();
      types.push_back(one.type());
      if (one && form.rank() == 0) {
        where_->graph->fail(error_kind::invalid_argument,
                            "tensor_slices: '" + one.name() + "' is a scalar, and has no slices");
      }
      if (form.rank() < 1) {
        shapes.push_back(shape::unknown());
      } else {
        shapes.emplace_back(std::vector<std::int64_t>(form.sizes().begin() + 1, form.sizes().end()));
      }
    }
    return {op("TensorSliceDataset", {}, {components}, {{"Toutput_types", types}, {"output_shapes", shapes}})[0], types,
            shapes};
  }
  /// 0 to `count - 1`, int64 scalars.
  [[nodiscard]] dataset range(std::int64_t count) const {
    std::vector<TF_DataType> const types{TF_INT64};
    std::vector<shape> const shapes{shape()};
    auto const number = [&](std::int64_t value, char const* name) {
      return add_node(*where_, "Const", {name, false}, {}, {{"value", constant_value(value)}, {"dtype", TF_INT64}})[0];
    };
    return {op("RangeDataset", {}, {number(0, "start"), number(count, "stop"), number(1, "step")},
               {{"output_types", types}, {"output_shapes", shapes}})[0],
            types, shapes};
  }
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
