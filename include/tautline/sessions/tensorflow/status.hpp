// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <tensorflow/c/c_api.h>

#include <tautline/core/error.hpp>

// What TensorFlow's C API gives has to be given back, and what it says has to be said on: handles and statuses.

TAUTLINE_BEGIN
namespace tensorflow {

/// A deleter that calls one function of the C API.
template <auto Delete>
struct deleted_by {
  template <class Handle>
  void operator()(Handle* handle) const noexcept {
    Delete(handle);
  }
};
using status_handle = std::unique_ptr<TF_Status, deleted_by<TF_DeleteStatus>>;
using graph_handle = std::unique_ptr<TF_Graph, deleted_by<TF_DeleteGraph>>;
using buffer_handle = std::unique_ptr<TF_Buffer, deleted_by<TF_DeleteBuffer>>;
using tensor_handle = std::unique_ptr<TF_Tensor, deleted_by<TF_DeleteTensor>>;
using session_options_handle = std::unique_ptr<TF_SessionOptions, deleted_by<TF_DeleteSessionOptions>>;
using import_options_handle = std::unique_ptr<TF_ImportGraphDefOptions, deleted_by<TF_DeleteImportGraphDefOptions>>;

/// Closes a session, and gives it back.
struct session_closer {
  void operator()(TF_Session* session) const noexcept {
    TF_Status* const closed = TF_NewStatus();
    TF_CloseSession(session, closed);
    TF_DeleteSession(session, closed);
    TF_DeleteStatus(closed);
  }
};
using session_handle = std::unique_ptr<TF_Session, session_closer>;

[[nodiscard]] inline status_handle new_status() { return status_handle(TF_NewStatus()); }

/// The kind by which the consequence of a code is known; those without a kind of their own are `error_kind::error`.
[[nodiscard]] constexpr error_kind kind_of(TF_Code code) {
  switch (code) {
    case TF_OK: return error_kind::none;
    case TF_OUT_OF_RANGE: return error_kind::out_of_range;
    case TF_ABORTED: return error_kind::aborted;
    case TF_UNAVAILABLE: return error_kind::unavailable;
    case TF_INTERNAL: return error_kind::internal;
    case TF_INVALID_ARGUMENT: return error_kind::invalid_argument;
    case TF_CANCELLED: return error_kind::cancelled;
    default: return error_kind::error;
  }
}

/// The name of a code, as TensorFlow spells it.
[[nodiscard]] constexpr char const* name_of_code(TF_Code code) {
  constexpr char const* names[] = {"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
                                   "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
                                   "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
                                   "UNAUTHENTICATED"};
  auto const place = static_cast<std::size_t>(code);
  return place < std::size(names) ? names[place] : "UNKNOWN";
}

/// Keeps the words of the last few failures, so that statuses can point to them.
class failure_memory {
 public:
  /// The words stay until eight more failures have come.
  status set(error_kind kind, std::string message) {
    std::string& kept = messages_[next_++ % messages_.size()];
    kept = std::move(message);
    return {kind, kept.c_str()};
  }
  /// TensorFlow's own words; before those of a code without a kind of its own stands its name.
  /// @param what a word on what was tried, in front; empty for none
  status take(TF_Status const* from, std::string what = {}) {
    TF_Code const code = TF_GetCode(from);
    if (code == TF_OK) return {};
    if (!what.empty()) what += ": ";
    if (kind_of(code) == error_kind::error) what.append(name_of_code(code)).append(": ");
    return set(kind_of(code), what + TF_Message(from));
  }

 private:
  std::array<std::string, 8> messages_;
  std::size_t next_ = 0;
};

}  // namespace tensorflow
TAUTLINE_END
