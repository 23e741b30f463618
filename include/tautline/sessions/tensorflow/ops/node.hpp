// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow/ops.hpp>

#include <deque>
#include <initializer_list>
#include <map>
#include <optional>

#include <tautline/sessions/tensorflow/graph_parts.hpp>
#include <tautline/sessions/tensorflow/ops/value.hpp>
#include <tautline/sessions/tensorflow/protobuf.hpp>

// Nodes of a TensorFlow graph, and the one function through which all of them are made.

TAUTLINE_BEGIN
namespace tensorflow {

class output;
class operation;

namespace detail {

struct building;

/// Where new nodes go. Frames live as long as the graph: outputs remember theirs.
struct frame {
  building* graph = nullptr;
  std::string prefix;  ///< "" or "dense/"
  std::string device;
  std::vector<TF_Operation*> controls;
};

/// What is known of a variable that was made here, beyond its nodes.
struct variable_notes {
  bool trainable = false;
  bool local = false;
};

/// What building a graph needs beside the graph. It stays where it is.
struct building {
  explicit building(graph_parts& on) : parts(on), graph(on.graph.get()) { top.graph = this; }
  building(building const&) = delete;
  building& operator=(building const&) = delete;

  graph_parts& parts;
  TF_Graph* graph;
  frame top;
  std::deque<frame> frames;
  std::map<std::string, int, std::less<>> names;  ///< how often a name was asked for
  std::map<std::string, variable_notes, std::less<>> variables;
  std::vector<TF_Operation*> local_initializers;
  std::optional<std::int64_t> seed;
  std::int64_t unseeded = 0;  ///< random nodes without a seed of their own
  TF_Operation* init = nullptr;
  std::size_t initialised = 0;  ///< the assignments that `init` has

  [[nodiscard]] bool ok() const { return parts.first.ok(); }
  /// Only the first one counts: what follows is its consequence.
  void fail(error_kind kind, std::string words) { parts.fail(kind, std::move(words)); }
};

/// A TF_Status for one call.
class call_status {
 public:
  [[nodiscard]] TF_Status* get() const { return status_.get(); }
  [[nodiscard]] bool ok() const { return TF_GetCode(get()) == TF_OK; }
  /// In building, what is not found is a type of op: the caller is at fault.
  [[nodiscard]] error_kind kind() const {
    TF_Code const code = TF_GetCode(get());
    return code == TF_NOT_FOUND ? error_kind::invalid_argument : kind_of(code);
  }
  [[nodiscard]] std::string message() const { return TF_Message(get()); }

 private:
  status_handle status_ = new_status();
};

/// `wanted`, or `wanted_1`, `wanted_2`, … as Python's graphs do it.
[[nodiscard]] inline std::string free_name(building& graph, std::string const& wanted) {
  std::string name = wanted;
  int& used = graph.names[wanted];
  while (TF_GraphOperationByName(graph.graph, name.c_str()) != nullptr) name = wanted + "_" + std::to_string(++used);
  return name;
}

output operator_of(output const& left, output const& right, char const* type, char const* name);
output operator_of(output const& left, double right, char const* type, char const* name);
output operator_of(double left, output const& right, char const* type, char const* name);
output operator_of(output const& only, char const* type);

}  // namespace detail

/// A node: what groups, control dependencies and targets are made of. Empty where building has failed.
class operation {
 public:
  operation() = default;
  operation(detail::frame const* where, TF_Operation* node) : where_(where), node_(node) {}

  [[nodiscard]] explicit operator bool() const { return node_ != nullptr; }
  [[nodiscard]] TF_Operation* handle() const { return node_; }
  [[nodiscard]] std::string name() const { return node_ == nullptr ? "" : TF_OperationName(node_); }
  [[nodiscard]] int output_count() const { return node_ == nullptr ? 0 : TF_OperationNumOutputs(node_); }
  /// One of its values; empty if it has not so many.
  [[nodiscard]] output operator[](int index) const;
  [[nodiscard]] detail::frame const* where() const { return where_; }

 private:
  detail::frame const* where_ = nullptr;
  TF_Operation* node_ = nullptr;
};

/// A value in the graph. `+ - * /` and unary `-` make new nodes beside the left operand; numbers become constants of
/// the other operand's type. Empty where building has failed: what is built on it is empty as well.
///
/// Outputs are handles: they are good as long as the graph.
class output {
 public:
  output() = default;
  output(detail::frame const* where, TF_Output raw) : where_(where), raw_(raw) {}

  [[nodiscard]] explicit operator bool() const { return raw_.oper != nullptr; }
  // NOLINTNEXTLINE(google-explicit-constructor): a value is also something to wait for
  operator operation() const { return {where_, raw_.oper}; }
  [[nodiscard]] TF_Output handle() const { return raw_; }
  [[nodiscard]] detail::frame const* where() const { return where_; }

  /// "dense/BiasAdd" for the first output of a node, "split:1" for the others.
  [[nodiscard]] std::string name() const {
    if (raw_.oper == nullptr) return "";
    return TF_OperationName(raw_.oper) + (raw_.index == 0 ? std::string() : ":" + std::to_string(raw_.index));
  }
  /// Zero if it is empty.
  [[nodiscard]] TF_DataType type() const { return raw_.oper == nullptr ? TF_DataType{} : TF_OperationOutputType(raw_); }
  /// As far as it is known before a run.
  [[nodiscard]] shape known_shape() const {
    detail::call_status status;
    if (raw_.oper == nullptr) return shape::unknown();
    int const rank = TF_GraphGetTensorNumDims(where_->graph->graph, raw_, status.get());
    if (!status.ok() || rank < 0) return shape::unknown();
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(rank));
    TF_GraphGetTensorShape(where_->graph->graph, raw_, sizes.data(), rank, status.get());
    return shape(std::move(sizes));
  }

  friend output operator+(output const& l, output const& r) { return detail::operator_of(l, r, "AddV2", "add"); }
  friend output operator+(output const& l, double r) { return detail::operator_of(l, r, "AddV2", "add"); }
  friend output operator+(double l, output const& r) { return detail::operator_of(l, r, "AddV2", "add"); }
  friend output operator-(output const& l, output const& r) { return detail::operator_of(l, r, "Sub", "sub"); }
  friend output operator-(output const& l, double r) { return detail::operator_of(l, r, "Sub", "sub"); }
  friend output operator-(double l, output const& r) { return detail::operator_of(l, r, "Sub", "sub"); }
  friend output operator*(output const& l, output const& r) { return detail::operator_of(l, r, "Mul", "mul"); }
  friend output operator*(output const& l, double r) { return detail::operator_of(l, r, "Mul", "mul"); }
  friend output operator*(double l, output const& r) { return detail::operator_of(l, r, "Mul", "mul"); }
  friend output operator/(output const& l, output const& r) { return detail::operator_of(l, r, "RealDiv", "truediv"); }
  friend output operator/(output const& l, double r) { return detail::operator_of(l, r, "RealDiv", "truediv"); }
  friend output operator/(double l, output const& r) { return detail::operator_of(l, r, "RealDiv", "truediv"); }
  friend output operator-(output const& only) { return detail::operator_of(only, "Neg"); }

 private:
  detail::frame const* where_ = nullptr;
  TF_Output raw_{nullptr, 0};
};

inline output operation::operator[](int index) const {
  if (node_ == nullptr) return {where_, {nullptr, 0}};
  if (index >= 0 && index < output_count()) return {where_, {node_, index}};
  where_->graph->fail(error_kind::invalid_argument, "node '" + name() + "' has no output " + std::to_string(index));
  return {where_, {nullptr, 0}};
}

/// An argument of a node: one value, or a list of them where the op's definition has a list.
class argument {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  argument(output one) : values_{one} {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  argument(std::vector<output> list) : values_(std::move(list)), is_list_(true) {}

  [[nodiscard]] std::vector<output> const& values() const { return values_; }
  [[nodiscard]] bool is_list() const { return is_list_; }

 private:
  std::vector<output> values_;
  bool is_list_ = false;
};

namespace detail {

/// A name that the user gave must be free; one of ours is made free.
struct node_name {
  std::string_view text;
  bool exact;
};

/// As TensorFlow wants them; it says so only when a session is made.
[[nodiscard]] inline bool is_node_name(std::string_view name) {
  auto const is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
  };
  if (name.empty() || !is_plain(name.front())) return false;
  for (char const c : name) {
    if (!is_plain(c) && c != '_' && c != '-' && c != '/' && c != '\\' && c != '>') return false;
  }
  return true;
}

/// Whether the definition of an op (OpDef) has this attribute. TensorFlow itself takes any name, and ignores what it
/// does not know.
[[nodiscard]] inline bool has_attribute(TF_Graph* graph, std::string const& type, std::string const& attribute) {
  buffer_handle const definition(TF_NewBuffer());
  call_status status;
  TF_GraphGetOpDef(graph, type.c_str(), definition.get(), status.get());
  if (!status.ok() || attribute.starts_with('_')) return true;  // an unknown op is another error
  bool found = false;
  for (proto_reader op({static_cast<char const*>(definition->data), definition->length}); op.next();) {
    if (op.field() != 4) continue;
    op.message([&](proto_reader& in) { found = found || (in.field() == 1 && in.bytes() == attribute); });
  }
  return found;
}

/// Whether this value may be an input of a node of `graph`; notes the error otherwise.
[[nodiscard]] inline bool is_usable(building& graph, output const& value, std::string const& user) {
  if (!graph.ok()) return false;
  if (!value) {
    graph.fail(error_kind::invalid_argument, "node '" + user + "': an input is empty");
  } else if (value.where() == nullptr || value.where()->graph != &graph) {
    graph.fail(error_kind::invalid_argument, "node '" + user + "': input '" + value.name() + "' is of another graph");
  }
  return graph.ok();
}

[[nodiscard]] inline bool is_usable(building& graph, std::vector<argument> const& inputs, std::string const& user) {
  for (argument const& input : inputs) {
    for (output const& value : input.values()) {
      if (!is_usable(graph, value, user)) return false;
    }
  }
  return graph.ok();
}

/// Adds a node.
/// **Errors** an unknown type of op, a wrong type or shape, a name in use: the graph's first error, which names the
/// node. After an error nothing is added.
inline operation add_node(frame const& where, std::string const& type, node_name name,
                          std::vector<argument> const& inputs = {}, std::vector<attribute> const& attributes = {},
                          std::vector<TF_Operation*> const& controls = {}) {
  building& graph = *where.graph;
  operation const nothing(&where, nullptr);
  std::string full = where.prefix + std::string(name.text);
  if (!is_usable(graph, inputs, full)) return nothing;
  if (!is_node_name(full)) {
    graph.fail(error_kind::invalid_argument,
               "node '" + full + "' (" + type +
                   "): a name has letters, digits and . _ - /, and begins with one of the first three");
    return nothing;
  }
  if (!name.exact) {
    full = free_name(graph, full);
  } else if (TF_GraphOperationByName(graph.graph, full.c_str()) != nullptr) {
    graph.fail(error_kind::invalid_argument, "node '" + full + "' (" + type + "): the graph has a node of this name");
    return nothing;
  }
  TF_OperationDescription* const node = TF_NewOperation(graph.graph, type.c_str(), full.c_str());
  if (!where.device.empty()) TF_SetDevice(node, where.device.c_str());
  for (argument const& input : inputs) {
    if (!input.is_list()) {
      TF_AddInput(node, input.values().front().handle());
      continue;
    }
    std::vector<TF_Output> list;
    for (output const& value : input.values()) list.push_back(value.handle());
    TF_AddInputList(node, list.data(), static_cast<int>(list.size()));
  }
  for (TF_Operation* const control : where.controls) TF_AddControlInput(node, control);
  for (TF_Operation* const control : controls) TF_AddControlInput(node, control);
  std::string unset;
  for (attribute const& one : attributes) {
    if (!one.set(node)) unset = one.name();
  }
  // also after a wrong attribute: nothing else releases the description
  call_status status;
  TF_Operation* const made = TF_FinishOperation(node, status.get());
  if (!unset.empty()) {
    graph.fail(error_kind::invalid_argument, "node '" + full + "' (" + type + "): '" + unset +
                                                 "' has not as many elements as its shape, or is of a " +
                                                 "type that no number has");
    return nothing;
  }
  if (status.ok()) return {&where, made};
  graph.fail(status.kind(), "node '" + full + "' (" + type + "): " + status.message());
  return nothing;
}

/// `number` in each element, as an element of type `type`.
inline output filled(frame const& where, TF_DataType type, shape const& form, double number, node_name name) {
  // halves have no arithmetic here: TensorFlow rounds them
  bool const is_half = type == TF_HALF || type == TF_BFLOAT16;
  TF_DataType const made_as = is_half ? TF_FLOAT : type;
  node_name const first = is_half ? node_name{"Const", false} : name;
  auto const value = add_node(where, "Const", first, {},
                              {{"value", constant_value::filled(made_as, form, number)}, {"dtype", made_as}})[0];
  return is_half ? add_node(where, "Cast", name, {value}, {{"DstT", type}})[0] : value;
}

inline output operator_of(output const& left, output const& right, char const* type, char const* name) {
  frame const* const where = left.where() != nullptr ? left.where() : right.where();
  return where == nullptr ? output() : add_node(*where, type, {name, false}, {left, right})[0];
}
inline output operator_of(output const& left, double right, char const* type, char const* name) {
  if (!left) return left;
  return operator_of(left, filled(*left.where(), left.type(), {}, right, {"Const", false}), type, name);
}
inline output operator_of(double left, output const& right, char const* type, char const* name) {
  if (!right) return right;
  return operator_of(filled(*right.where(), right.type(), {}, left, {"Const", false}), right, type, name);
}
inline output operator_of(output const& only, char const* type) {
  return only ? add_node(*only.where(), type, {type, false}, {only})[0] : only;
}

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
