// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/sessions/tensorflow/graph_parts.hpp>
#include <tautline/sessions/tensorflow/names.hpp>
#include <tautline/sessions/tensorflow/run_arrays.hpp>
#include <tautline/sessions/tensorflow/tensor.hpp>
#include <tautline/sessions/tensorflow/variables.hpp>

TAUTLINE_BEGIN
namespace tensorflow {
namespace detail {

/// What a name of the program stands for in the graph, and the value that the last run gave it.
struct named_slot {
  char const* name = "";            ///< the program's
  TF_Output output{nullptr, 0};     ///< what is fetched or fed; the operation is null until it has been looked for
  TF_Operation* target = nullptr;
  TF_DataType type = TF_FLOAT;
  std::vector<std::int64_t> shape{};  ///< what the graph knows of it, -1 for a length that it leaves open
  bool has_rank = false;
  bool always = false;  ///< fetched in every run: a trigger looks at it
  TF_Output after_step{nullptr, 0};  ///< of a variable: its value behind the step target, which this runs, too
  tensor_handle value{};
  /// Objects that are not in the tensor itself, a cell for each kind: what is read stays where it is until the next
  /// run.
  struct alignas(16) cell {
    std::byte bytes[16]{};
  };
  cell cells[8]{};
};

/// The names that a program uses: looked for in the graph once each.
class slot_table {
 public:
  explicit slot_table(graph_parts& parts) : parts_(&parts), done_(new_status()) {}

  [[nodiscard]] named_slot& operator[](std::size_t slot) { return slots_[slot]; }
  [[nodiscard]] TF_Tensor const* value(std::size_t slot) const {
    return slot < slots_.size() ? slots_[slot].value.get() : nullptr;
  }
  /// The value of the last run, good until the next one; zero, or an empty tensor, where there is none.
  template <fetched_type Type>
  [[nodiscard]] Type const& read(std::size_t slot) {
    static constexpr Type none{};
    TF_Tensor const* const from = value(slot);
    if (from == nullptr || !is_read_as<Type>(from)) return none;
    if constexpr (element<Type> && !std::same_as<Type, std::string_view>) {
      if (TF_TensorType(from) == data_type_of<Type>) [[likely]] return *static_cast<Type const*>(TF_TensorData(from));
    }
    static_assert(sizeof(Type) <= sizeof(named_slot::cell) && std::is_trivially_copyable_v<Type>);
    return *::new (static_cast<void*>(slots_[slot].cells[cell_of<Type>()].bytes)) Type(read_value<Type>(from));
  }
  void forget_values() {
    for (named_slot& each : slots_) each.value.reset();
  }
  /// Takes what a run has given for its slots.
  void keep_values(run_arrays const& arrays) {
    std::span<std::size_t const> const into = arrays.fetched_slots();
    for (std::size_t i = 0; i < into.size(); ++i) slots_[into[i]].value.reset(arrays.values()[i]);
  }
  [[nodiscard]] std::vector<tensor_handle> take_values() {
    std::vector<tensor_handle> taken;
    for (named_slot& each : slots_) taken.push_back(std::move(each.value));
    return taken;
  }
  void give_values_back(std::vector<tensor_handle> taken) {
    forget_values();
    for (std::size_t i = 0; i < taken.size(); ++i) slots_[i].value = std::move(taken[i]);
  }
  /// Those that are fetched in every run.
  [[nodiscard]] std::span<std::size_t const> always() const { return always_; }
  /// @param step_target behind which a variable is read in runs that have it; null for none
  void fetch_always(std::size_t slot, TF_Operation* step_target) {
    named_slot& found = slots_[slot];
    if (std::exchange(found.always, true)) return;
    always_.push_back(slot);
    if (step_target == nullptr || std::string_view(TF_OperationOpType(found.output.oper)) != "ReadVariableOp") return;
    std::string const name = std::string(TF_OperationName(found.output.oper)) + "_after_step";
    operation_maker read(parts_->graph.get(), "ReadVariableOp", "tautline/" + name, done_.get());
    TF_Operation* const made =
        read.input(TF_OperationInput({found.output.oper, 0})).after(step_target).type("dtype", found.type).finish();
    if (TF_GetCode(done_.get()) == TF_OK) found.after_step = {made, 0};
  }
  /// What stands for a name that is fetched in every run.
  [[nodiscard]] TF_Output always_output(std::size_t slot, bool with_step) const {
    named_slot const& found = slots_[slot];
    return with_step && found.after_step.oper != nullptr ? found.after_step : found.output;
  }

  /// Looks a value up by its name. @param asked how to read it; the rank is -1 for any
  status find_fetch(std::size_t slot, char const* name, TF_DataType asked, int rank) {
    named_slot& found = at(slot, name);
    if (status const looked = find_output(found, "fetch"); !looked.ok()) return looked;
    bool const fits = found.type == asked || (rank == 0 && widens(found.type, asked));
    if (!fits || (found.has_rank && rank >= 0 && static_cast<int>(found.shape.size()) != rank)) {
      return parts_->failures.set(error_kind::invalid_argument,
                                  std::string("fetch \"") + name + "\": it is asked for as " + name_of_type(asked) +
                                      " of rank " + std::to_string(rank) + ", in the graph it is " + form_of(found));
    }
    if (!found.has_rank) knows_all_ranks_ = false;
    return {};
  }
  /// The same for what is fed. @param fits whether a value of that element type can stand for another one
  status find_feed(std::size_t slot, char const* name, TF_DataType given, int rank, bool (*fits)(TF_DataType)) {
    named_slot& found = at(slot, name);
    if (status const looked = find_output(found, "feed"); !looked.ok()) return looked;
    if (fits(found.type) && !(found.has_rank && static_cast<int>(found.shape.size()) != rank)) return {};
    return parts_->failures.set(error_kind::invalid_argument, std::string("feed \"") + name + "\": it is given as " +
                                                            name_of_type(given) + " of rank " + std::to_string(rank) +
                                                            ", in the graph it is " + form_of(found));
  }
  status find_target(std::size_t slot, char const* name) {
    named_slot& found = at(slot, name);
    if (found.target != nullptr) return {};
    std::string const in_graph(parts_->name_in_graph(name));
    found.target = TF_GraphOperationByName(parts_->graph.get(), split_name(in_graph).first.c_str());
    if (found.target != nullptr) return {};
    return parts_->failures.set(error_kind::invalid_argument,
                          no_such_name(parts_->graph.get(), std::string("target \"") + name + "\"", in_graph,
                                               [](TF_Operation*) { return true; }));
  }
  /// Whether a value may be put there. @param value null stands for no memory
  status check_feed(std::size_t slot, TF_Tensor const* value) {
    named_slot const& into = slots_[slot];
    if (value != nullptr && shape_fits(into, value)) [[likely]] return {};
    std::string const what = std::string("feed \"") + into.name + "\": ";
    if (value == nullptr) return parts_->failures.set(error_kind::error, what + "there is no memory");
    return parts_->failures.set(error_kind::invalid_argument,
                                what + "its shape is " + shape_of(value) + ", in the graph it is " + form_of(into));
  }
  /// False if the graph leaves the rank of a value open that is asked for.
  [[nodiscard]] bool knows_all_ranks() const { return knows_all_ranks_; }
  /// Whether the last run gave a value of this rank, if it gave one.
  status check_rank(std::size_t slot, int rank) {
    named_slot const& got = slots_[slot];
    if (got.value == nullptr || TF_NumDims(got.value.get()) == rank) return {};
    return parts_->failures.set(error_kind::invalid_argument,
                                std::string("fetch \"") + got.name + "\": it is asked for with rank " +
                                    std::to_string(rank) + ", the run gave " + shape_of(got.value.get()));
  }

 private:
  /// Whether what is there has the form that the program reads: memory is safe whatever was asked for.
  template <fetched_type Type>
  static bool is_read_as(TF_Tensor const* from) {
    TF_DataType const type = TF_TensorType(from);
    return TF_NumDims(from) == fetched_rank<Type> &&
           (type == fetched_data_type<Type> || (!is_tensor<Type> && widens(type, fetched_data_type<Type>)));
  }
  template <class Type>
  static consteval std::size_t cell_of() {
    if constexpr (is_tensor<Type>) {
      return 0;
    } else {
      switch (fetched_data_type<Type>) {
        case TF_STRING: return 1;
        case TF_DOUBLE: return 2;
        case TF_FLOAT: return 3;
        case TF_INT64: return 4;
        case TF_INT32: return 5;
        case TF_UINT64: return 6;
        default: return 7;
      }
    }
  }
  named_slot& at(std::size_t slot, char const* name) {
    if (slot >= slots_.size()) slots_.resize(slot + 1);
    slots_[slot].name = name;
    return slots_[slot];
  }
  /// A variable's name stands for its value, not for the handle to it.
  [[nodiscard]] TF_Operation* value_of(TF_Operation* named) const {
    if (named == nullptr || std::string_view(TF_OperationOpType(named)) != "VarHandleOp") return named;
    std::string const read = std::string("tautline/") + TF_OperationName(named) + "/read";
    TF_Operation* const found = TF_GraphOperationByName(parts_->graph.get(), read.c_str());
    return found == nullptr ? named : found;
  }
  status find_output(named_slot& found, char const* what) {
    if (found.output.oper != nullptr) return {};
    std::string const in_graph(parts_->name_in_graph(found.name));
    auto const [operation, index] = split_name(in_graph);
    TF_Operation* const made = value_of(TF_GraphOperationByName(parts_->graph.get(), operation.c_str()));
    int const outputs = made == nullptr ? 0 : TF_OperationNumOutputs(made);
    if (std::max(index, 0) >= outputs) {
      std::string const asked = std::string(what) + " \"" + found.name + "\"";
      if (made != nullptr) {
        return parts_->failures.set(error_kind::invalid_argument,
                                    asked + ": the operation \"" + operation + "\" of the graph has " +
                                        std::to_string(outputs) + " outputs" +
                                        (outputs == 0 ? ". Mend: run it as a target" : ""));
      }
      return parts_->failures.set(error_kind::invalid_argument,
                            no_such_name(parts_->graph.get(), asked, in_graph, [](TF_Operation* each) {
                              return TF_OperationNumOutputs(each) > 0;
                            }));
    }
    TF_Output const output{made, std::max(index, 0)};
    int const rank = TF_GraphGetTensorNumDims(parts_->graph.get(), output, done_.get());
    if (TF_GetCode(done_.get()) == TF_OK && rank >= 0) {
      found.shape.resize(static_cast<std::size_t>(rank));
      TF_GraphGetTensorShape(parts_->graph.get(), output, found.shape.data(), rank, done_.get());
      found.has_rank = TF_GetCode(done_.get()) == TF_OK;
    }
    found.type = static_cast<TF_DataType>(TF_OperationOutputType(output) % 100);
    found.output = output;
    return {};
  }
  static std::string form_of(named_slot const& found) {
    return std::string(name_of_type(found.type)) + " " +
           shape_text(found.shape.data(), found.has_rank ? static_cast<int>(found.shape.size()) : -1);
  }
  static bool shape_fits(named_slot const& into, TF_Tensor const* value) {
    if (!into.has_rank) return true;
    if (TF_NumDims(value) != static_cast<int>(into.shape.size())) return false;
    for (int i = 0; i < TF_NumDims(value); ++i) {
      std::int64_t const wanted = into.shape[static_cast<std::size_t>(i)];
      if (wanted >= 0 && wanted != TF_Dim(value, i)) return false;
    }
    return true;
  }
  static std::string shape_of(TF_Tensor const* value) {
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < TF_NumDims(value); ++i) lengths.push_back(TF_Dim(value, i));
    return shape_text(lengths.data(), static_cast<int>(lengths.size()));
  }

  graph_parts* parts_;
  status_handle done_;
  std::deque<named_slot> slots_;  // a slot stays where it is, and with it what was read of it
  std::vector<std::size_t> always_;
  bool knows_all_ranks_ = true;
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
