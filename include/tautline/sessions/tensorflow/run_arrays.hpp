// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <cstdint>
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
    fetches_.clear(), fetched_slots_.clear(), targets_.clear();
  }
  void feed(TF_Output into, tensor_handle value) {
    feeds_.push_back(into);
    fed_.push_back(value.get());
    owned_.push_back(std::move(value));
  }
  void fetch(TF_Output from, std::size_t slot) {
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
    TF_SessionRun(session, options, feeds_.data(), fed_.data(), static_cast<int>(feeds_.size()), fetches_.data(),
                  values_.data(), static_cast<int>(fetches_.size()), targets_.data(), static_cast<int>(targets_.size()),
                  metadata, done);
  }
  [[nodiscard]] std::span<TF_Tensor* const> values() const { return values_; }

 private:
  std::vector<TF_Output> feeds_;
  std::vector<TF_Tensor*> fed_;
  std::vector<tensor_handle> owned_;
  std::vector<TF_Output> fetches_;
  std::vector<std::size_t> fetched_slots_;
  std::vector<TF_Operation const*> targets_;
  std::vector<TF_Tensor*> values_;
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
