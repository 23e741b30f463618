// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow/ops.hpp>

#include <set>

#include <tautline/sessions/tensorflow/ops/variables.hpp>

// Gradients and optimizers.

TAUTLINE_BEGIN
namespace tensorflow {

/// A setting of an optimizer: a number, or a scalar of the graph (one that is fed, say).
class hyperparameter {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  hyperparameter(double number) : number_(number) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  hyperparameter(output value) : value_(value), is_output_(true) {}

  [[nodiscard]] output in(detail::frame const& where, TF_DataType type, char const* name) const {
    return is_output_ ? value_ : detail::filled(where, type, {}, number_, {name, false});
  }

 private:
  double number_ = 0;
  output value_;
  bool is_output_ = false;
};

/// w -= rate · g
/// **Source** tf.train.GradientDescentOptimizer
struct sgd {
  hyperparameter learning_rate = 0.01;
};
/// m = momentum · m + g; w -= rate · m (Nesterov: w -= rate · (g + momentum · m)). Slots: `NAME/Momentum`.
/// **Source** tf.train.MomentumOptimizer
struct momentum {
  hyperparameter learning_rate = 0.01;
  hyperparameter momentum_rate = 0.9;
  bool use_nesterov = false;
};
/// Slots: `NAME/Adam` (mean of g), `NAME/Adam_1` (mean of g²), and `beta1_power`, `beta2_power`.
///
/// **Source** Kingma and Ba, Adam: a method for stochastic optimization, 2015, in the form before section 2.1's epsilon
struct adam {
  hyperparameter learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

namespace detail {

class training_ops : public variable_ops {
 public:
  using variable_ops::variable_ops;

  /// The derivatives of the sum of all `ys` by each of `xs`, in the shape of that x. **Errors** an op on the way of which TensorFlow's C++
  /// library knows no derivative (the message names it); an x on which no y depends.
  [[nodiscard]] std::vector<output> gradients(std::vector<output> const& ys, std::vector<output> const& xs) const {
    auto found = possible_gradients(ys, xs);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i]) {
        where_->graph->fail(error_kind::invalid_argument, "gradients: nothing depends on '" + xs[i].name() + "'");
      }
    }
    return found;
  }
  [[nodiscard]] output gradient(output const& y, output const& x) const { return gradients({y}, {x})[0]; }

  /// One step of an optimizer on all trainable variables on which `loss` depends.
  ///
  ///     auto train = ops.minimize(loss, sgd{0.1}, ops.global_step(), "train");
  ///
  /// @param loss any shape; its sum is made smaller
  /// @param name of the node to run; without one "GradientDescent", "Momentum" or "Adam", as in Python
  /// **Errors** those of `gradients`; no trainable variable, or none on which `loss` depends.
  template <class Optimizer>
  operation minimize(output const& loss, Optimizer const& how, name_type name = {}) const {
    return apply(loss, how, nullptr, name);
  }
  /// @param global_step is one more when the step is done
  template <class Optimizer>
  operation minimize(output const& loss, Optimizer const& how, tensorflow::variable const& global_step,
                     name_type name = {}) const {
    return apply(loss, how, &global_step, name);
  }

  /// What `minimize` changes: the variables made with `trainable`.
  [[nodiscard]] std::vector<std::string> trainable_variables() const {
    std::vector<std::string> names;
    for (auto const& found : find_variables(where_->graph->graph)) {
      auto const notes = where_->graph->variables.find(found.name());
      if (notes != where_->graph->variables.end() && notes->second.trainable) names.push_back(found.name());
    }
    return names;
  }

 private:
  /// All nodes from which values reach one of these.
  [[nodiscard]] static std::set<TF_Operation*> sources(std::vector<output> const& of) {
    std::vector<TF_Operation*> starts;
    for (output const& one : of) starts.push_back(one.handle().oper);
    auto const found = operations_before(std::move(starts), false);
    return {found.begin(), found.end()};
  }

  /// An x on which nothing depends has an empty one.
  [[nodiscard]] std::vector<output> possible_gradients(std::vector<output> const& ys,
                                                       std::vector<output> const& xs) const {
    auto& graph = *where_->graph;
    std::vector<output> made(xs.size(), output(where_, {nullptr, 0}));
    if (!is_usable(graph, {ys, xs}, where_->prefix + "gradients")) return made;
    // TensorFlow refuses all of them if one cannot be reached
    auto const reached = sources(ys);
    std::vector<TF_Output> from, by;
    std::vector<std::size_t> place;
    for (auto const& y : ys) from.push_back(y.handle());
    for (std::size_t i = 0; i < xs.size(); ++i) {
      if (reached.contains(xs[i].handle().oper)) by.push_back(xs[i].handle()), place.push_back(i);
    }
    if (by.empty()) return made;
    std::vector<TF_Output> into(by.size(), TF_Output{nullptr, 0});
    std::string const prefix = free_prefix();
    call_status status;
    TF_AddGradientsWithPrefix(graph.graph, prefix.c_str(), from.data(), static_cast<int>(from.size()), by.data(),
                              static_cast<int>(by.size()), nullptr, status.get(), into.data());
    if (!status.ok()) {
      graph.fail(status.kind(), prefix + ": " + status.message());
      return made;
    }
    for (std::size_t i = 0; i < into.size(); ++i) {
      if (into[i].oper != nullptr) made[place[i]] = output(where_, into[i]);
    }
    return made;
  }
  [[nodiscard]] std::string free_prefix() const {
    int& used = where_->graph->names[where_->prefix + "gradients/"];
    std::string const number = used == 0 ? "" : "_" + std::to_string(used);
    ++used;
    return where_->prefix + "gradients" + number;
  }

  struct one_step {
    output variable;  ///< the resource
    std::string name;
    TF_DataType type;
    shape form;
    output gradient;
  };

  template <class Optimizer>
  operation apply(output const& loss, Optimizer const& how, tensorflow::variable const* step, name_type given) const {
    auto& graph = *where_->graph;
    operation const nothing(where_, nullptr);
    std::vector<one_step> parts;
    std::vector<output> xs;
    for (auto const& name : trainable_variables()) {
      TF_Operation* const node = TF_GraphOperationByName(graph.graph, name.c_str());
      TF_Operation* const read = TF_GraphOperationByName(graph.graph, (name + "/Read/ReadVariableOp").c_str());
      parts.push_back(
          {output(where_, {node, 0}), name, variable_type(node), output(where_, {read, 0}).known_shape(), {}});
      xs.push_back(parts.back().variable);
    }
    if (parts.empty()) graph.fail(error_kind::invalid_argument, "minimize: the graph has no trainable variables");
    auto const found = possible_gradients({loss}, xs);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].gradient = found[i];
    std::erase_if(parts, [](one_step const& part) { return !part.gradient; });
    if (parts.empty()) {
      graph.fail(error_kind::invalid_argument, "minimize: '" + loss.name() + "' depends on no trainable variable");
    }
    if (!graph.ok()) return nothing;
    std::string const full = where_->prefix + std::string(given.empty() ? default_name(how) : given);
    std::string const name = (given.empty() ? free_name(graph, full) : full).substr(where_->prefix.size());
    std::vector<operation> done;
    update_all(how, parts, name + "/", done);
    if (step == nullptr) return group(done, name);
    operation const updated = group(done, name + "/update");
    if (!updated) return nothing;
    output const one =
        add_node(*where_, "Const", {name + "/Const", true}, {},
                 {{"value", constant_value(std::int64_t{1})}, {"dtype", TF_INT64}}, {updated.handle()})[0];
    return assign_add(*step, one, name);
  }

  static char const* default_name(sgd const&) { return "GradientDescent"; }
  static char const* default_name(tensorflow::momentum const&) { return "Momentum"; }
  static char const* default_name(adam const&) { return "Adam"; }

  void update_all(sgd const& how, std::vector<one_step> const& parts, std::string const& in,
                  std::vector<operation>& done) const {
    settings const at(*this, in);
    for (auto const& part : parts) {
      done.push_back(update("ResourceApplyGradientDescent", part, in,
                            {part.variable, at("learning_rate", how.learning_rate, part.type), part.gradient}));
    }
  }
  void update_all(tensorflow::momentum const& how, std::vector<one_step> const& parts, std::string const& in,
                  std::vector<operation>& done) const {
    settings const at(*this, in);
    for (auto const& part : parts) {
      output const mean = slot(part, "/Momentum");
      done.push_back(update("ResourceApplyMomentum", part, in,
                            {part.variable, mean, at("learning_rate", how.learning_rate, part.type), part.gradient,
                             at("momentum", how.momentum_rate, part.type)},
                            {{"use_nesterov", how.use_nesterov}}));
    }
  }
  void update_all(adam const& how, std::vector<one_step> const& parts, std::string const& in,
                  std::vector<operation>& done) const {
    settings const at(*this, in);
    auto const type = parts.front().type;  // Python takes type and device of one of them as well
    auto const power1 = power("beta1_power", parts.front(), how.beta1),
               power2 = power("beta2_power", parts.front(), how.beta2);
    for (auto const& part : parts) {
      output const mean = slot(part, "/Adam"), square_mean = slot(part, "/Adam_1");
      auto const of_type = [&](output const& x) {
        return x.type() == part.type ? x : op("Cast", {}, {x}, {{"DstT", part.type}})[0];
      };
      done.push_back(update("ResourceApplyAdam", part, in,
                            {part.variable, mean, square_mean, of_type(power1), of_type(power2),
                             at("learning_rate", how.learning_rate, part.type), at("beta1", how.beta1, part.type),
                             at("beta2", how.beta2, part.type), at("epsilon", how.epsilon, part.type), part.gradient}));
    }
    std::vector<TF_Operation*> after;
    for (auto const& one : done) after.push_back(one.handle());
    auto const advance = [&](tensorflow::variable const& power, char const* name, double beta) {
      auto const& there = *beside(power.resource()).where();
      output const now = add_node(there, "ReadVariableOp", {in + "ReadVariableOp", false}, {power.resource()},
                                  {{"dtype", type}}, after)[0];
      output const next = add_node(there, "Mul", {in + "mul", false}, {now, at(name, beta, type)})[0];
      return add_node(there, "AssignVariableOp", {in + "AssignVariableOp", false}, {power.resource(), next});
    };
    if (!where_->graph->ok()) return;
    done.push_back(advance(power1, "beta1", how.beta1));
    done.push_back(advance(power2, "beta2", how.beta2));
  }

  /// The constants of an optimizer, once for each type.
  class settings {
   public:
    settings(training_ops const& ops, std::string in) : ops_(ops), in_(std::move(in)) {}
    output operator()(char const* name, hyperparameter const& value, TF_DataType type) const {
      auto& made = made_[{name, type}];
      if (!made) made = value.in(*ops_.where_, type, (in_ + name).c_str());
      return made;
    }

   private:
    training_ops const& ops_;
    std::string in_;
    mutable std::map<std::pair<std::string, TF_DataType>, output> made_;
  };

  operation update(char const* type, one_step const& part, std::string const& in, std::vector<argument> const& inputs,
                   std::vector<attribute> const& attributes = {}) const {
    std::string base = part.name;
    if (auto const slash = base.rfind('/'); slash != std::string::npos) base = base.substr(slash + 1);
    return add_node(*beside(part.variable).where(), type, {in + "update_" + base + "/" + type, false}, inputs,
                    attributes);
  }
  // slots lie beside their variable, whatever scope and device the optimizer has
  output slot(one_step const& part, char const* suffix) const {
    training_ops const there(at_top(TF_OperationDevice(part.variable.handle().oper)).where());
    return there.add_variable(part.name + suffix, part.type, part.form, 0.0, {.trainable = false}).resource();
  }
  [[nodiscard]] tensorflow::variable power(char const* name, one_step const& first, double initial) const {
    training_ops const there(training_ops(beside(first.variable).where()).free_of_controls().where());
    std::string const full = free_name(*where_->graph, where_->prefix + name).substr(where_->prefix.size());
    return there.add_variable(full, first.type, {}, constant_value::filled(first.type, {}, initial),
                              {.trainable = false});
  }
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
