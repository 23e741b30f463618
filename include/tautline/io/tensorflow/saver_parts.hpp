// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/io/tensorflow_checkpoints.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/io/checkpoint/compare.hpp>
#include <tautline/io/file_layer.hpp>
#include <tautline/io/tensorflow/checkpoint_reader.hpp>
#include <tautline/sessions/tensorflow/engine.hpp>

// What the saver of a graph saves and restores, read off its operations, and whether a checkpoint is of that graph.

TAUTLINE_BEGIN
namespace tensorflow {
namespace detail {

using checkpoint_reader_handle = std::unique_ptr<TF_CheckpointReader, deleted_by<TF_DeleteCheckpointReader>>;

/// A value that the saver restores.
struct saved_value {
  std::string name{};  ///< in the checkpoint
  TF_DataType type = TF_FLOAT;
  bool has_shape = false;  ///< else it can be of any
  std::vector<std::int64_t> shape{};
};

/// "float32 [2,3]"
inline std::string form_words(TF_DataType type, std::vector<std::int64_t> const& shape) {
  return std::string(name_of_type(type)) + ' ' + shape_text(shape.data(), static_cast<int>(shape.size()));
}

class saver_parts {
 public:
  [[nodiscard]] TF_Operation* save() const { return save_; }
  [[nodiscard]] TF_Operation* restore() const { return restore_; }
  /// Where both are told the path.
  [[nodiscard]] TF_Operation* filename() const { return filename_; }

  /// **Errors** `invalid_argument` where the graph has no saver, or one of the format V1, which is no longer written.
  [[nodiscard]] io_result find(engine const& from) {
    scaffold const& names = from.settings().scaffold;
    std::pair<std::string const&, char const*> const wanted[] = {{names.saver_filename, "save/Const"},
                                                                 {names.saver_save, "save/control_dependency"},
                                                                 {names.saver_restore, "save/restore_all"}};
    TF_Operation** const found[] = {&filename_, &save_, &restore_};
    for (std::size_t i = 0; i < 3; ++i) {
      auto const& [given, by_default] = wanted[i];
      *found[i] = from.find_operation(given, by_default);
      if (*found[i] != nullptr) continue;
      return {error_kind::invalid_argument,
              "the graph has no saver: it has no \"" + (given.empty() ? std::string(by_default) : given) +
                  "\". Mend: make one (tf.train.Saver in Python, ops().saver() in C++), or name its operations in "
                  ".scaffold = {.saver_filename = …, .saver_save = …, .saver_restore = …}"};
    }
    values_.clear();
    for (TF_Operation* const start : {save_, restore_}) {
      for (TF_Operation* const each : operations_before({start}, true)) {
        std::string_view const type = TF_OperationOpType(each);
        if (type == "Save" || type == "SaveSlices") {
          return {error_kind::invalid_argument, "the saver of the graph writes the format V1 (\"" +
                                                    std::string(TF_OperationName(each)) + "\" is of the type " +
                                                    std::string(type) +
                                                    "). Mend: tf.train.Saver(write_version=tf.train.SaverDef.V2)"};
        }
        if (start == restore_ && type == "RestoreV2") add_values_of(each);
      }
    }
    return {};
  }

  /// Everything that keeps a checkpoint from being restored here; empty if nothing does.
  /// @param takes_more values that the saver does not restore are no fault
  [[nodiscard]] std::string compare(TF_CheckpointReader* with, bool takes_more) const {
    tautline::detail::differences found;
    std::set<std::string_view> known;
    for (saved_value const& each : values_) {
      known.insert(each.name);
      if (TF_CheckpointReaderHasTensor(with, each.name.c_str()) == 0) {
        found.add("it has no \"" + each.name + "\"");
        continue;
      }
      TF_DataType const type = TF_CheckpointReaderGetVariableDataType(with, each.name.c_str());
      std::vector<std::int64_t> const shape = shape_in(with, each.name.c_str());
      if (type == each.type && (!each.has_shape || fits(shape, each.shape))) continue;
      found.add('"' + each.name + "\" is " + form_words(type, shape) + " in it, and " +
                form_words(each.type, each.has_shape ? each.shape : shape) + " in the graph");
    }
    for (int i = 0; !values_.empty() && !takes_more && i < TF_CheckpointReaderSize(with); ++i) {
      std::string_view const name = TF_CheckpointReaderGetVariable(with, i);
      if (!known.contains(name))
        found.add("it has \"" + std::string(name) + "\", which the saver of the graph does not know");
    }
    return found.text();
  }
  /// Reads every value, by which its checksum is checked. @return what is damaged; empty if nothing is
  [[nodiscard]] static std::string verify(TF_CheckpointReader* with) {
    status_handle const done = new_status();
    for (int i = 0; i < TF_CheckpointReaderSize(with); ++i) {
      char const* const name = TF_CheckpointReaderGetVariable(with, i);
      tensor_handle const value(TF_CheckpointReaderGetTensor(with, name, done.get()));
      if (TF_GetCode(done.get()) != TF_OK)
        return '"' + std::string(name) + "\" cannot be read: " + TF_Message(done.get());
    }
    return {};
  }

 private:
  /// The strings of a constant; none if it is not one.
  static std::vector<std::string> strings_of(TF_Operation* constant) {
    std::vector<std::string> made;
    if (std::string_view(TF_OperationOpType(constant)) != "Const") return made;
    status_handle const done = new_status();
    TF_Tensor* read = nullptr;
    TF_OperationGetAttrTensor(constant, "value", &read, done.get());
    tensor_handle const owned(read);
    if (TF_GetCode(done.get()) != TF_OK || TF_TensorType(read) != TF_STRING) return made;
    tensor<std::string_view, 1> const texts(read);
    for (std::size_t i = 0; i < texts.size(); ++i) made.emplace_back(texts[i]);
    return made;
  }
  void add_values_of(TF_Operation* restoring) {
    std::vector<std::string> const names = strings_of(TF_OperationInput({restoring, 1}).oper);
    std::vector<std::string> const slices = strings_of(TF_OperationInput({restoring, 2}).oper);
    if (names.size() != slices.size() || static_cast<int>(names.size()) != TF_OperationNumOutputs(restoring)) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
      saved_value added;
      TF_Output const value{restoring, static_cast<int>(i)};
      added.name = names[i];
      added.type = TF_OperationOutputType(value);
      // of a part of a variable the whole has another shape
      if (slices[i].empty()) find_shape(value, added);
      values_.push_back(std::move(added));
    }
  }
  /// That of the variable which gets the value.
  static void find_shape(TF_Output value, saved_value& into) {
    std::vector<TF_Input> used(static_cast<std::size_t>(TF_OperationOutputNumConsumers(value)));
    TF_OperationOutputConsumers(value, used.data(), static_cast<int>(used.size()));
    for (TF_Input const& each : used) {
      std::string_view const type = TF_OperationOpType(each.oper);
      if (type == "Identity") find_shape({each.oper, 0}, into);
      if ((type != "Assign" && type != "AssignVariableOp") || each.index != 1) continue;
      TF_Operation* const variable = TF_OperationInput({each.oper, 0}).oper;
      status_handle const done = new_status();
      TF_AttrMetadata const shape = TF_OperationGetAttrMetadata(variable, "shape", done.get());
      if (TF_GetCode(done.get()) != TF_OK || shape.total_size < 0) continue;
      into.has_shape = true;
      into.shape.resize(static_cast<std::size_t>(shape.total_size));
      TF_OperationGetAttrShape(variable, "shape", into.shape.data(), static_cast<int>(into.shape.size()), done.get());
    }
  }
  static std::vector<std::int64_t> shape_in(TF_CheckpointReader* with, char const* name) {
    status_handle const done = new_status();
    std::vector<std::int64_t> shape(
        static_cast<std::size_t>(std::max(TF_CheckpointReaderGetVariableNumDims(with, name), 0)));
    TF_CheckpointReaderGetVariableShape(with, name, shape.data(), static_cast<int>(shape.size()), done.get());
    return shape;
  }
  static bool fits(std::vector<std::int64_t> const& shape, std::vector<std::int64_t> const& wanted) {
    return std::equal(shape.begin(), shape.end(), wanted.begin(), wanted.end(),
                      [](std::int64_t is, std::int64_t declared) { return declared < 0 || is == declared; });
  }

  TF_Operation* save_ = nullptr;
  TF_Operation* restore_ = nullptr;
  TF_Operation* filename_ = nullptr;
  std::vector<saved_value> values_;
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
