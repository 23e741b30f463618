// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/sessions/tensorflow/names.hpp>
#include <tautline/sessions/tensorflow/tensor.hpp>

TAUTLINE_BEGIN
namespace tensorflow {
namespace detail {

/// The arguments of one `TF_SessionRun`: taken from and given back to the same memory in each run.
class run_arrays {
 public:
  void clear() {
    feeds_.clear(), fed_.clear(), owned_.clear();
    fetches_.clear(), fetched_slots_.clear(), targets_.clear(), echoes_.clear();
  }
  void feed(TF_Output into, tensor_handle value) {
    feeds_.push_back(into);
    fed_.push_back(value.get());
    owned_.push_back(std::move(value));
  }
  /// What is fed in this run, too, is not asked of TensorFlow, which refuses that. Feeds come before fetches.
  void fetch(TF_Output from, std::size_t slot) {
    for (std::size_t i = 0; i < feeds_.size(); ++i) {
      if (feeds_[i].oper == from.oper && feeds_[i].index == from.index) return echoes_.push_back({slot, i});
    }
    fetches_.push_back(from);
    fetched_slots_.push_back(slot);
  }
  void run_target(TF_Operation* target) { targets_.push_back(target); }

  [[nodiscard]] std::span<TF_Output const> fetches() const { return fetches_; }
  [[nodiscard]] std::span<std::size_t const> fetched_slots() const { return fetched_slots_; }
  [[nodiscard]] std::span<TF_Output const> feeds() const { return feeds_; }
  [[nodiscard]] std::span<TF_Operation const* const> targets() const { return targets_; }

  /// Runs all of it at once; what was fetched is in `values()` afterwards, and the caller's.
  void run(TF_Session* session, TF_Buffer const* options, TF_Buffer* metadata, TF_Status* done) {
    values_.assign(fetches_.size(), nullptr);
    if (fetches_.empty() && targets_.empty()) return TF_SetStatus(done, TF_OK, "");  // which TensorFlow refuses
    TF_SessionRun(session, options, feeds_.data(), fed_.data(), static_cast<int>(feeds_.size()), fetches_.data(),
                  values_.data(), static_cast<int>(fetches_.size()), targets_.data(), static_cast<int>(targets_.size()),
                  metadata, done);
  }
  [[nodiscard]] std::span<TF_Tensor* const> values() const { return values_; }
  /// After a run: calls `take(slot, tensor_handle)` for each fetch of what was fed.
  template <class Take>
  void each_echo(Take take) {
    for (std::size_t i = 0; i < echoes_.size(); ++i) {
      auto const [slot, feed] = echoes_[i];
      bool again = false;
      for (std::size_t later = i + 1; later < echoes_.size(); ++later) again = again || echoes_[later].second == feed;
      take(slot, again ? copy_of(owned_[feed].get()) : std::move(owned_[feed]));
    }
  }

 private:
  /// For two names of one feed. Strings are TensorFlow's to copy, one by one.
  static tensor_handle copy_of(TF_Tensor const* from) {
    std::vector<std::int64_t> shape;
    for (int i = 0; i < TF_NumDims(from); ++i) shape.push_back(TF_Dim(from, i));
    TF_DataType const type = TF_TensorType(from);
    if (type == TF_STRING) {
      auto const count = static_cast<std::size_t>(TF_TensorElementCount(from));
      tensor_handle made = new_text_tensor(shape.data(), TF_NumDims(from), count);
      auto const* const texts = static_cast<TF_TString const*>(TF_TensorData(from));
      for (std::size_t i = 0; i < count; ++i) {
        store_text(made.get(), i, {TF_StringGetDataPointer(texts + i), TF_StringGetSize(texts + i)});
      }
      return made;
    }
    tensor_handle made(TF_AllocateTensor(type, shape.data(), TF_NumDims(from), TF_TensorByteSize(from)));
    if (TF_TensorByteSize(from) > 0) std::memcpy(TF_TensorData(made.get()), TF_TensorData(from), TF_TensorByteSize(from));
    return made;
  }

  std::vector<TF_Output> feeds_;
  std::vector<TF_Tensor*> fed_;
  std::vector<tensor_handle> owned_;
  std::vector<TF_Output> fetches_;
  std::vector<std::size_t> fetched_slots_;
  std::vector<TF_Operation const*> targets_;
  std::vector<std::pair<std::size_t, std::size_t>> echoes_;  ///< slot, place among the feeds
  std::vector<TF_Tensor*> values_;
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
