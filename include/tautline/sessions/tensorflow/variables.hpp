// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tautline/core/state.hpp>
#include <tautline/core/training_state.hpp>
#include <tautline/sessions/tensorflow/names.hpp>
#include <tautline/sessions/tensorflow/tensor.hpp>

// The variables of a graph: which there are, whether they are initialised, their values in a session.

TAUTLINE_BEGIN
namespace tensorflow {
namespace detail {

/// Adds one operation. What is wrong with it stays in `failed`.
class operation_maker {
 public:
  /// One that is there already, since the graph was written by a session of ours, is taken as it is.
  operation_maker(TF_Graph* graph, char const* type, std::string const& name, TF_Status* failed)
      : there_(TF_GraphOperationByName(graph, name.c_str())), failed_(failed) {
    if (there_ != nullptr && std::string_view(TF_OperationOpType(there_)) != type) there_ = nullptr;
    if (there_ == nullptr) made_ = TF_NewOperation(graph, type, name.c_str());
  }
  operation_maker& input(TF_Output from) {
    if (made_ != nullptr) TF_AddInput(made_, from);
    return *this;
  }
  operation_maker& type(char const* attribute, TF_DataType type) {
    if (made_ != nullptr) TF_SetAttrType(made_, attribute, type);
    return *this;
  }
  operation_maker& after(TF_Operation* before) {
    if (made_ != nullptr) TF_AddControlInput(made_, before);
    return *this;
  }
  TF_Operation* finish() {
    if (made_ != nullptr) return TF_FinishOperation(made_, failed_);
    TF_SetStatus(failed_, TF_OK, "");
    return there_;
  }

 private:
  TF_Operation* there_;
  TF_OperationDescription* made_ = nullptr;
  TF_Status* failed_;
};

/// One variable: of the resource kind (VarHandleOp), or of the older kind whose output is a reference (VariableV2).
struct variable {
  char const* name = "";
  TF_DataType type = TF_FLOAT;
  std::vector<std::int64_t> shape{};  ///< as the graph declares it, -1 for a length that it leaves open
  TF_Output value{};                  ///< what a run reads
  TF_Output is_initialized{};
  TF_Operation* assign = nullptr;
  TF_Output assigned{};  ///< a placeholder: the value that `assign` stores
  bool is_open = false;   ///< the graph leaves a length of the shape, or all of it, open
  bool is_local = false;  ///< of this process alone: initialised by the local init op, in no checkpoint
  tensor_handle current{};

  /// Whether a checkpoint of ours can hold it.
  [[nodiscard]] bool can_be_shown() const {
    bool const too_deep = current != nullptr && TF_NumDims(current.get()) > static_cast<int>(tensor_view::max_rank);
    return !is_local && element_type_of(type) && shape.size() <= tensor_view::max_rank && !too_deep;
  }
  /// Memory for a value of the shape that the graph declares; lengths that it leaves open are 0.
  bool reserve() {
    std::vector<std::int64_t> lengths = shape;
    for (std::int64_t& length : lengths) length = std::max<std::int64_t>(length, 0);
    return reserve(lengths.data(), static_cast<int>(lengths.size()));
  }
  /// Memory for a value of this shape.
  bool reserve(std::int64_t const* lengths, int rank) {
    std::size_t count = 1;
    for (int i = 0; i < rank; ++i) count *= static_cast<std::size_t>(lengths[i]);
    current.reset(TF_AllocateTensor(type, lengths, rank, count * TF_DataTypeSize(type)));
    if (current == nullptr) return false;
    if (std::size_t const bytes = TF_TensorByteSize(current.get()); bytes > 0) {
      std::memset(TF_TensorData(current.get()), 0, bytes);
    }
    return true;
  }
  [[nodiscard]] tensor_view view() const {
    tensor_view seen;
    seen.type = *element_type_of(type);
    seen.rank = static_cast<std::uint8_t>(TF_NumDims(current.get()));
    for (int i = 0; i < seen.rank; ++i) seen.shape[i] = TF_Dim(current.get(), i);
    seen.data = TF_TensorData(current.get());
    return seen;
  }
};

/// All variables of a graph, and the operations that read and write them, which are added to it.
class variable_table {
 public:
  /// Looks for the variables and adds operations below "tautline/". Once, when the graph is finalized.
  /// @param locals names of those that belong to this process alone
  status find(TF_Graph* graph, std::span<std::string const> locals, failure_memory& failures) {
    status_handle const made = new_status();
    std::vector<TF_Operation*> found;
    each_operation(graph, [&](TF_Operation* operation) {
      if (is_variable(operation)) found.push_back(operation);
    });
    for (TF_Operation* const each : found) {
      if (!add(graph, each, made.get())) return failures.take(made.get(), "reading the variables of the graph");
      variable& added = all_.back();
      added.is_local = std::find(locals.begin(), locals.end(), std::string_view(added.name)) != locals.end();
    }
    return {};
  }
  [[nodiscard]] std::vector<variable>& all() { return all_; }
  [[nodiscard]] variable* named(std::string_view name) {
    for (variable& each : all_) {
      if (name == each.name) return &each;
    }
    return nullptr;
  }

  /// Calls `visit(state_item const&)` for each variable that has a value, local ones left out.
  template <class Visit>
  void each_item(Visit const& visit) {
    for (variable& each : all_) {
      if (!each.can_be_shown() || each.current == nullptr) continue;
      state_item item;
      item.group = state_group::variable;
      item.owner = each.name;
      item.view = each.view();
      item.object = &each;
      if (each.is_open) item.resize = [](void* object, std::int64_t const* shape, tensor_view& view) {
        variable& resized = *static_cast<variable*>(object);
        if (!resized.reserve(shape, view.rank)) return false;
        view = resized.view();
        return true;
      };
      visit(static_cast<state_item const&>(item));
    }
  }
  /// The first variable of a type that no checkpoint of ours can hold; null if there is none.
  [[nodiscard]] variable const* find_unsaved() const {
    for (variable const& each : all_) {
      if (!each.is_local && !each.can_be_shown()) return &each;
    }
    return nullptr;
  }

 private:
  bool add(TF_Graph* graph, TF_Operation* operation, TF_Status* failed) {
    bool const is_resource = std::string_view(TF_OperationOpType(operation)) == "VarHandleOp";
    TF_Output const handle{operation, 0};
    variable found;
    found.name = TF_OperationName(operation);
    TF_OperationGetAttrType(operation, "dtype", &found.type, failed);
    if (TF_GetCode(failed) != TF_OK) return false;
    TF_AttrMetadata const shape = TF_OperationGetAttrMetadata(operation, "shape", failed);
    if (TF_GetCode(failed) == TF_OK && shape.total_size >= 0) {
      found.shape.resize(static_cast<std::size_t>(shape.total_size));
      TF_OperationGetAttrShape(operation, "shape", found.shape.data(), static_cast<int>(found.shape.size()), failed);
      found.is_open = std::find(found.shape.begin(), found.shape.end(), -1) != found.shape.end();
    } else {
      found.is_open = true;
    }

    std::string const base = "tautline/" + std::string(found.name);
    auto const op = [&](char const* type, char const* last) {
      return operation_maker(graph, type, base + last, failed);
    };
    found.assigned = {op("Placeholder", "/value").type("dtype", found.type).finish(), 0};
    if (TF_GetCode(failed) != TF_OK) return false;
    if (is_resource) {
      found.value = {op("ReadVariableOp", "/read").input(handle).type("dtype", found.type).finish(), 0};
      if (TF_GetCode(failed) != TF_OK) return false;
      found.is_initialized = {op("VarIsInitializedOp", "/is_initialized").input(handle).finish(), 0};
      if (TF_GetCode(failed) != TF_OK) return false;
      found.assign =
          op("AssignVariableOp", "/assign").input(handle).input(found.assigned).type("dtype", found.type).finish();
    } else {
      found.value = handle;
      found.is_initialized = {op("IsVariableInitialized", "/is_initialized").input(handle).finish(), 0};
      if (TF_GetCode(failed) != TF_OK) return false;
      found.assign = op("Assign", "/assign").input(handle).input(found.assigned).finish();
    }
    if (TF_GetCode(failed) != TF_OK) return false;
    all_.push_back(std::move(found));
    return true;
  }

  std::vector<variable> all_;
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
