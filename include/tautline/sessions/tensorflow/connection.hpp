// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <chrono>
#include <string>
#include <string_view>

#include <tautline/sessions/tensorflow/session_config.hpp>
#include <tautline/sessions/tensorflow/status.hpp>

TAUTLINE_BEGIN
namespace tensorflow {
namespace detail {

/// The name of an operation that does nothing, by which a session is tried.
inline constexpr char const* try_operation = "tautline/try";

inline void add_try_operation(TF_Graph* graph, TF_Status* done) {
  if (TF_GraphOperationByName(graph, try_operation) != nullptr) return;
  TF_FinishOperation(TF_NewOperation(graph, "NoOp", try_operation), done);
}

/// The way to an engine, in this process or elsewhere. An engine that is not there would let the first run wait for
/// ever.
struct connection {
  std::string const& target;
  session_config const& config;
  std::chrono::milliseconds limit;

  /// The engine of a server of this very process, by the name that TensorFlow has for it, would be called directly;
  /// and then no deadline ends the making of a session, nor the closing of one whose other machines are gone. So it
  /// is called by way of the network, too.
  [[nodiscard]] std::string address() const {
    constexpr std::string_view here = "grpc://localhost:";
    return target.starts_with(here) ? "grpc://127.0.0.1:" + target.substr(here.size()) : target;
  }
  /// @return null if TensorFlow refuses
  [[nodiscard]] TF_Session* open(TF_Graph* graph, TF_Status* done) const {
    session_options_handle const options(TF_NewSessionOptions());
    TF_SetTarget(options.get(), address().c_str());
    session_config given = config;
    if (!target.empty() && given.operation_timeout_in_ms == 0) given.operation_timeout_in_ms = limit.count();
    TF_SetStatus(done, TF_OK, "");  // TF_SetConfig says something only if it fails
    if (std::string const bytes = given.bytes(); !bytes.empty()) {
      TF_SetConfig(options.get(), bytes.data(), bytes.size(), done);
      if (TF_GetCode(done) != TF_OK) return nullptr;
    }
    return TF_NewSession(graph, options.get(), done);
  }
  /// Waits until the engine, and all machines that it works with, have answered.
  status wait(TF_Session* session, TF_Graph* graph, TF_Status* done, failure_memory& failures) const {
    if (target.empty()) return {};
    TF_Operation const* const nothing = TF_GraphOperationByName(graph, try_operation);
    TF_SessionRun(session, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, &nothing, 1, nullptr, done);
    if (TF_GetCode(done) == TF_DEADLINE_EXCEEDED) {
      std::string machines;
      for (std::string const& each : config.device_filters) machines += (machines.empty() ? "" : ", ") + each;
      if (machines.empty()) machines = "all of its cluster";
      return failures.set(error_kind::error, "DEADLINE_EXCEEDED: \"" + target +
                                                 "\", or a machine that it works with (" + machines +
                                                 "), has not answered within " + std::to_string(limit.count()) +
                                                 " ms. Mend: start it, leave out machines that are not needed by "
                                                 ".config = {.device_filters = {…}}, or give it more .connect_wait");
    }
    return failures.take(done, "making a session on \"" + target + "\"");
  }
};

}  // namespace detail
}  // namespace tensorflow
TAUTLINE_END
