// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow/ops.hpp>

#include <algorithm>

#include <tautline/sessions/tensorflow/ops/random.hpp>

// Variables, their initialisation, and the ops that save and restore them. All names are those of TensorFlow's Python.

TAUTLINE_BEGIN
namespace tensorflow {

/// A variable: as an output it is its value at the beginning of a run (the node `NAME/Read/ReadVariableOp`); `handle()`
/// is what assignments and optimizers change (the node `NAME`).
class variable : public output {
 public:
  variable() = default;
  variable(output const& read, output handle, operation initializer, shape form)
      : output(read), handle_(handle), initializer_(initializer), form_(std::move(form)) {}

  /// The handle that assignments and optimizers take.
  [[nodiscard]] output const& resource() const { return handle_; }
  /// The assignment of its initial value.
  [[nodiscard]] operation const& initializer() const { return initializer_; }
  /// "w": the name in checkpoints.
  [[nodiscard]] std::string variable_name() const { return handle_.name(); }
  [[nodiscard]] shape const& form() const { return form_; }

 private:
  output handle_;
  operation initializer_;
  shape form_;
};

/// What is to become of a variable.
struct variable_options {
  bool trainable = true;  ///< changed by `minimize`
  bool local = false;     ///< made anew with every session by the local initialisation; not in checkpoints
};

/// The ops of a saver: feed a path's beginning as `filename`, run one of the others.
struct saver_ops {
  output filename;    ///< "save/Const", a string
  output save;        ///< "save/control_dependency": writes; its value is the path's beginning
  operation restore;  ///< "save/restore_all"
};

namespace detail {

/// A variable as it is found in any graph, Python's among them.
struct found_variable {
  TF_Operation* node;
  TF_Operation* assign;  ///< of the initial value; null if there is none
  TF_Operation* read;    ///< null for the kind that is no resource: its own output is the value
  bool is_resource;
  [[nodiscard]] std::string name() const { return TF_OperationName(node); }
};

[[nodiscard]] inline std::vector<found_variable> find_variables(TF_Graph* graph) {
  std::vector<found_variable> found;
  each_operation(graph, [&](TF_Operation* node) {
    if (!is_variable(node)) return;
    bool const is_resource = std::string_view(TF_OperationOpType(node)) == "VarHandleOp";
    std::string const name = TF_OperationName(node);
    found.push_back({node, TF_GraphOperationByName(graph, (name + "/Assign").c_str()),
                     is_resource ? TF_GraphOperationByName(graph, (name + "/Read/ReadVariableOp").c_str()) : nullptr,
                     is_resource});
  });
  return found;
}

/// Of a variable's elements.
[[nodiscard]] inline TF_DataType variable_type(TF_Operation* node) {
  TF_DataType type = TF_FLOAT;
  call_status status;
  TF_OperationGetAttrType(node, "dtype", &type, status.get());
  return type;
}

class variable_ops : public random_ops {
 public:
  using random_ops::random_ops;

  /// @param name must be free; it is the name in checkpoints
  /// @param form all sizes are known
  template <graph_element Element>
  tensorflow::variable variable(name_type name, shape const& form, initial_value const& initial,
                                variable_options const& options = {}) const {
    return free_of_controls().add_variable(name, graph_type<Element>(), form, initial, options);
  }
  /// The count of training steps, int64, that optimizers increase, savers keep and sessions resume: that of an imported
  /// graph, or the node "global_step", made where the graph has none.
  tensorflow::variable global_step() const {
    auto& graph = *where_->graph;
    auto const& settings = graph.parts.settings.scaffold;
    std::string const name = settings.global_step.empty() ? "global_step" : split_name(settings.global_step).first;
    auto const node_of = [&](std::string const& of) { return TF_GraphOperationByName(graph.graph, of.c_str()); };
    TF_Operation* const node = node_of(name);
    if (node == nullptr) return at_top(where_->device).add_variable(name, TF_INT64, {}, 0, {.trainable = false});
    TF_Operation* const read = node_of(name + "/Read/ReadVariableOp");
    return {output(where_, {read == nullptr ? node : read, 0}),
            output(where_, {node, 0}),
            operation(where_, node_of(name + "/Assign")),
            {}};
  }

  // all of these run on the variable's device
  operation assign(tensorflow::variable const& to, output const& value, name_type name = {}) const {
    return beside(to.resource()).op("AssignVariableOp", name, {to.resource(), value});
  }
  operation assign_add(tensorflow::variable const& to, output const& value, name_type name = {}) const {
    return beside(to.resource()).op("AssignAddVariableOp", name, {to.resource(), value});
  }
  operation assign_sub(tensorflow::variable const& to, output const& value, name_type name = {}) const {
    return beside(to.resource()).op("AssignSubVariableOp", name, {to.resource(), value});
  }
  /// The value at this place of the run: after the control dependencies that are in force.
  output read(tensorflow::variable const& from, name_type name = {}) const {
    return beside(from.resource()).op("ReadVariableOp", name, {from.resource()}, {{"dtype", from.type()}})[0];
  }

  /// Initialises all variables of the graph, those that were imported too, but for local ones. The node "init", or
  /// "init_1" and so on if the graph has got further variables since; asked for again, the same.
  operation init() const {
    auto& graph = *where_->graph;
    std::vector<TF_Operation*> assignments;
    for (auto const& found : find_variables(graph.graph)) {
      if (found.assign != nullptr && !is_local(found.name())) assignments.push_back(found.assign);
    }
    if (graph.init != nullptr && graph.initialised == assignments.size()) return {&graph.top, graph.init};
    operation const made = add_node(graph.top, "NoOp", {"init", false}, {}, {}, assignments);
    graph.init = made.handle();
    graph.initialised = assignments.size();
    return made;
  }
  /// Initialises what every session needs anew: local variables and inputs. The node "local_init", made when it is
  /// asked for; empty, without an error, if there is nothing to do.
  operation local_init() const {
    auto& graph = *where_->graph;
    std::vector<TF_Operation*> parts = graph.local_initializers;
    for (auto const& found : find_variables(graph.graph)) {
      if (found.assign != nullptr && is_local(found.name())) parts.push_back(found.assign);
    }
    if (parts.empty()) return {&graph.top, nullptr};
    return add_node(graph.top, "NoOp", {"local_init", false}, {}, {}, parts);
  }
  /// Adds the ops that write and read checkpoints of all variables but for the local ones, as Python's `tf.train.Saver`
  /// names and orders them: its readers read what they write, and they read what it wrote. Asked for again: the same.
  saver_ops saver() const {
    frame const* const top = &where_->graph->top;
    TF_Graph* const graph = where_->graph->graph;
    auto const by_name = [&](char const* name) { return TF_GraphOperationByName(graph, name); };
    if (by_name("save/restore_all") == nullptr) add_saver("save/");
    if (!where_->graph->ok()) return {};
    return {output(top, {by_name("save/Const"), 0}), output(top, {by_name("save/control_dependency"), 0}),
            operation(top, by_name("save/restore_all"))};
  }

 protected:
  /// A variable waits for nothing, wherever it is made: it is initialised and saved apart from all else.
  [[nodiscard]] variable_ops free_of_controls() const {
    if (where_->controls.empty()) return *this;
    auto& frame = where_->graph->frames.emplace_back(*where_);
    frame.controls.clear();
    return variable_ops(&frame);
  }
  /// For nodes with names of their own, on a device.
  [[nodiscard]] variable_ops at_top(std::string const& device) const {
    auto& frame = where_->graph->frames.emplace_back(where_->graph->top);
    frame.device = device;
    return variable_ops(&frame);
  }
  /// Ops on a variable run where it is, whatever device the scope has.
  [[nodiscard]] variable_ops beside(output const& resource) const {
    std::string const device = resource ? TF_OperationDevice(resource.handle().oper) : where_->device;
    if (device == where_->device) return *this;
    auto& frame = where_->graph->frames.emplace_back(*where_);
    frame.device = device;
    return variable_ops(&frame);
  }
  [[nodiscard]] bool is_local(std::string const& name) const {
    auto const& locals = where_->graph->parts.locals;
    return std::find(locals.begin(), locals.end(), name) != locals.end();
  }

  tensorflow::variable add_variable(name_type short_name, TF_DataType type, shape const& form,
                                    initial_value const& initial, variable_options const& options) const {
    std::string const name(short_name), full = where_->prefix + name;
    if (form.element_count() < 0) {
      where_->graph->fail(error_kind::invalid_argument,
                          "node '" + full + "' (VarHandleOp): all sizes of a variable must be known");
    }
    output const handle = add_node(*where_, "VarHandleOp", {name, true}, {},
                                   {{"dtype", type}, {"shape", form}, {"shared_name", full}, {"container", ""}})[0];
    output const value = initial.make(*this, type, form, name + "/Initializer/");
    shape const given = value.known_shape();
    if (value && given.element_count() >= 0 && given != form) {
      where_->graph->fail(error_kind::invalid_argument,
                          "node '" + full + "': its initial value has another shape than the variable");
    }
    add_node(*where_, "VarIsInitializedOp", {name + "/IsInitialized/VarIsInitializedOp", true}, {handle});
    operation const initializer =
        add_node(*where_, "AssignVariableOp", {name + "/Assign", true}, {handle, value}, {{"dtype", type}});
    output const read =
        add_node(*where_, "ReadVariableOp", {name + "/Read/ReadVariableOp", true}, {handle}, {{"dtype", type}})[0];
    if (read) where_->graph->variables[full] = {options.trainable && !options.local, options.local};
    if (read && options.local) where_->graph->parts.locals.push_back(full);
    return {read, handle, initializer, form};
  }

 public:
  /// @param in what all names of its nodes begin with: "save/"
  void add_saver(std::string const& in) const {
    frame const& top = where_->graph->top;
    std::map<std::string, found_variable> saved;  // by name, as Python sorts them
    for (auto const& found : find_variables(top.graph->graph)) {
      if (!is_local(found.name())) saved.emplace(found.name(), found);
    }
    if (saved.empty()) {
      top.graph->fail(error_kind::invalid_argument, "node '" + in + "SaveV2': the graph has no variables to save");
      return;
    }
    variable_ops const at(&top);
    output const fallback =
        at.op("Const", in + "filename/input", {}, {{"value", constant_value("model")}, {"dtype", TF_STRING}})[0];
    output const text = at.placeholder_with_default(fallback, {}, in + "filename");
    output const filename = at.placeholder_with_default(text, {}, in + "Const");
    std::vector<std::string> names;
    std::vector<output> values;
    std::vector<TF_DataType> types;
    for (auto const& [name, found] : saved) {
      names.push_back(name);
      types.push_back(variable_type(found.node));
      output const itself(&top, {found.node, 0});
      values.push_back(!found.is_resource      ? itself
                       : found.read != nullptr ? output(&top, {found.read, 0})
                                               : at.op("ReadVariableOp", {}, {itself}, {{"dtype", types.back()}})[0]);
    }
    constant_value const name_list(names), whole(std::vector<std::string>(names.size()));
    auto const strings = [&](std::string const& name, constant_value const& value) {
      return at.op("Const", name, {}, {{"value", value}, {"dtype", TF_STRING}})[0];
    };
    operation const save = at.op("SaveV2", in + "SaveV2",
                                 {filename, strings(in + "SaveV2/tensor_names", name_list),
                                  strings(in + "SaveV2/shape_and_slices", whole), values});
    if (save) add_node(top, "Identity", {in + "control_dependency", true}, {filename}, {}, {save.handle()});
    operation const restore = at.op("RestoreV2", in + "RestoreV2",
                                    {filename, strings(in + "RestoreV2/tensor_names", name_list),
                                     strings(in + "RestoreV2/shape_and_slices", whole)},
                                    {{"dtypes", types}});
    std::vector<operation> assigned;
    int index = 0;
    for (auto const& [name, found] : saved) {
      output const to(&top, {found.node, 0}), read = restore[index++];
      assigned.push_back(found.is_resource
                             ? add_node(top, "AssignVariableOp", {in + "AssignVariableOp", false},
                                        {to, add_node(top, "Identity", {in + "Identity", false}, {read})[0]})
                             : add_node(top, "Assign", {in + "Assign", false}, {to, read}));
    }
    at.group(assigned, in + "restore_all");
  }
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
