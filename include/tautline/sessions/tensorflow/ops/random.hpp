// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow/ops.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

#include <tautline/sessions/tensorflow/ops/math.hpp>

// Random numbers, and what variables begin with.

TAUTLINE_BEGIN
namespace tensorflow {

/// The seed of one node. With the same seeds, op and shape the numbers are those of TensorFlow's Python, to the bit.
using op_seed = std::optional<std::int64_t>;

/// Normally distributed numbers.
struct random_normal {
  double mean = 0;
  double stddev = 1;
  op_seed seed = {};
};
/// The same, and no number further from the mean than two standard deviations: such ones are drawn again.
struct truncated_normal {
  double mean = 0;
  double stddev = 1;
  op_seed seed = {};
};
/// From `minval`, included, to `maxval`, excluded. Whole numbers need a `maxval` of their own.
struct random_uniform {
  double minval = 0;
  double maxval = 1;
  op_seed seed = {};
};
/// Uniform within sqrt(6 / (rows + columns)): what Python's `get_variable` takes where nothing is said.
///
/// **Source** Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks, 2010
struct glorot_uniform {
  op_seed seed = {};
};

namespace detail {

class random_ops : public math_ops {
 public:
  using math_ops::math_ops;

  /// The graph's seed, for all random nodes that are made from here on. Both seeds together decide: see `op_seed`. A
  /// node without a seed of its own gets one by the count of such nodes (Python: by the count of all nodes, which is
  /// another).
  void set_random_seed(std::int64_t seed) const { where_->graph->seed = seed; }

  /// The two seeds of a node, by the rules of Python's graphs. Two zeros: another sequence in each session.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> seed_pair(op_seed seed) const {
    auto& graph = *where_->graph;
    if (!graph.seed && !seed) return {0, 0};
    constexpr std::int64_t graph_seed_of_python = 87654321, most = 0x7fffffff;
    auto const within = [](std::int64_t of) { return (of % most + most) % most; };
    std::int64_t const first = within(graph.seed.value_or(graph_seed_of_python));
    std::int64_t const second = within(seed ? *seed : ++graph.unseeded);
    return {first, first == 0 && second == 0 ? most : second};
  }

  template <graph_element Element = float>
  output random_normal(shape const& form, tensorflow::random_normal const& how = {}, name_type name = {}) const {
    return random(how, graph_type<Element>(), form, named(name, "random_normal"));
  }
  template <graph_element Element = float>
  output truncated_normal(shape const& form, tensorflow::truncated_normal const& how = {}, name_type name = {}) const {
    return random(how, graph_type<Element>(), form, named(name, "truncated_normal"));
  }
  template <graph_element Element = float>
  output random_uniform(shape const& form, tensorflow::random_uniform const& how = {}, name_type name = {}) const {
    return random(how, graph_type<Element>(), form, named(name, "random_uniform"));
  }

  output random(tensorflow::random_normal const& how, TF_DataType type, shape const& form, node_name name) const {
    return normal("RandomStandardNormal", how.mean, how.stddev, how.seed, type, form, name);
  }
  output random(tensorflow::truncated_normal const& how, TF_DataType type, shape const& form, node_name name) const {
    return normal("TruncatedNormal", how.mean, how.stddev, how.seed, type, form, name);
  }
  output random(tensorflow::random_uniform const& how, TF_DataType type, shape const& form, node_name name) const {
    std::string const full = settled(name);
    output const sizes = dimensions(form, full), low = scalar(type, how.minval, full + "/min"),
                 high = scalar(type, how.maxval, full + "/max");
    if (type == TF_INT32 || type == TF_INT64) {
      return add_node(*where_, "RandomUniformInt", {full, true}, {sizes, low, high}, seeds(how.seed))[0];
    }
    output const drawn = draw("RandomUniform", how.seed, type, sizes, full);
    output const width = add_node(*where_, "Sub", {full + "/sub", false}, {high, low})[0];
    output const spread = add_node(*where_, "Mul", {full + "/mul", false}, {drawn, width})[0];
    return add_node(*where_, "AddV2", {full, true}, {spread, low})[0];
  }
  output random(glorot_uniform const& how, TF_DataType type, shape const& form, node_name name) const {
    auto const& sizes = form.sizes();
    double field = 1;  // of a convolution
    for (std::size_t i = 0; i + 2 < sizes.size(); ++i) field *= static_cast<double>(sizes[i]);
    double const columns = sizes.empty() ? 1 : static_cast<double>(sizes.back());
    double const rows = sizes.size() < 2 ? columns : static_cast<double>(sizes[sizes.size() - 2]);
    double const limit = std::sqrt(3.0 / std::max(1.0, (field * rows + field * columns) / 2));
    return random(tensorflow::random_uniform{-limit, limit, how.seed}, type, form, name);
  }

 private:
  // The nodes that make a value lie in a scope named as it, so its name is settled first.
  [[nodiscard]] std::string settled(node_name name) const {
    std::string const full = where_->prefix + std::string(name.text);
    return (name.exact ? full : free_name(*where_->graph, full)).substr(where_->prefix.size());
  }
  output dimensions(shape const& form, std::string const& of) const {
    std::vector<std::int32_t> const sizes(form.sizes().begin(), form.sizes().end());
    return add_node(*where_, "Const", {of + "/shape", false}, {},
                    {{"value", constant_value(sizes)}, {"dtype", TF_INT32}})[0];
  }
  output scalar(TF_DataType type, double number, std::string const& name) const {
    return filled(*where_, type, {}, number, {name, false});
  }
  output draw(char const* type, op_seed seed, TF_DataType element, output const& sizes, std::string const& of) const {
    auto attributes = seeds(seed);
    attributes.emplace_back("dtype", element);
    return add_node(*where_, type, {of + "/" + type, false}, {sizes}, attributes)[0];
  }
  output normal(char const* type, double mean, double stddev, op_seed seed, TF_DataType element, shape const& form,
                node_name name) const {
    std::string const full = settled(name);
    output const sizes = dimensions(form, full), centre = scalar(element, mean, full + "/mean"),
                 width = scalar(element, stddev, full + "/stddev");
    output const drawn = draw(type, seed, element, sizes, full);
    output const spread = add_node(*where_, "Mul", {full + "/mul", false}, {drawn, width})[0];
    return add_node(*where_, "AddV2", {full, true}, {spread, centre})[0];
  }

 protected:
  [[nodiscard]] std::vector<attribute> seeds(op_seed seed) const {
    auto const [first, second] = seed_pair(seed);
    if (first == 0 && second == 0) return {};
    return {{"seed", first}, {"seed2", second}};
  }
};

}  // namespace detail

/// What a variable begins with: a number for all elements, the elements, one of the random distributions above, or a
/// value of the graph.
class initial_value {
 public:
  template <class Value>
  requires std::is_arithmetic_v<Value>
  // NOLINTNEXTLINE(google-explicit-constructor)
  initial_value(Value number)
      : make_([number](detail::random_ops const& ops, TF_DataType type, shape const& form, std::string const& inside) {
          char const* const name = number == Value{0} ? "zeros" : number == Value{1} ? "ones" : "Const";
          return detail::filled(*ops.where(), type, form, static_cast<double>(number), {inside + name, true});
        }) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  initial_value(constant_value value)
      : make_([value](detail::random_ops const& ops, TF_DataType, shape const&, std::string const& inside) {
          return ops.constant(value, inside + "initial_value");
        }) {}
  template <tensor_value Value>
  requires(tensor_traits<Value>::rank > 0)
      // NOLINTNEXTLINE(google-explicit-constructor)
      initial_value(Value const& value)
      : initial_value(constant_value(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  initial_value(output value)
      : make_([value](detail::random_ops const&, TF_DataType, shape const&, std::string const&) { return value; }) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  initial_value(random_normal how) : initial_value(how, "random_normal") {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  initial_value(truncated_normal how) : initial_value(how, "truncated_normal") {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  initial_value(random_uniform how) : initial_value(how, "random_uniform") {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  initial_value(glorot_uniform how) : initial_value(how, "random_uniform") {}

  /// @param inside the names of the nodes begin with it
  [[nodiscard]] output make(detail::random_ops const& ops, TF_DataType type, shape const& form,
                            std::string const& inside) const {
    return make_(ops, type, form, inside);
  }

 private:
  template <class Distribution>
  initial_value(Distribution how, char const* name)
      : make_(
            [how, name](detail::random_ops const& ops, TF_DataType type, shape const& form, std::string const& inside) {
              std::string const full = inside + name;
              return ops.random(how, type, form, {full, true});
            }) {}

  std::function<output(detail::random_ops const&, TF_DataType, shape const&, std::string const&)> make_;
};

}  // namespace tensorflow
TAUTLINE_END
