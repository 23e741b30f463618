// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tautline/sessions/tensorflow/protobuf.hpp>

TAUTLINE_BEGIN
namespace tensorflow {

/// How a session, or a server, is to use this machine and the others: what of a ConfigProto has a use here.
///
///     session_config{.intra_op_threads = 1, .device_filters = {"/job:ps", "/job:worker/task:1"}}.bytes()
///
/// **Source** ConfigProto in tensorflow/core/protobuf/config.proto
struct session_config {
  std::int32_t intra_op_threads = 0;  ///< that one op may use; 0: one for each core
  std::int32_t inter_op_threads = 0;  ///< on which ops run side by side; 0: one for each core, -1: the caller's only
  bool use_per_session_threads = false;
  bool allow_soft_placement = false;  ///< an op that its device does not have runs on another one
  bool log_device_placement = false;
  /// The machines that the session may use, "/job:ps" or "/job:worker/task:1"; all, if empty. A session waits for all
  /// machines that it may use: with these a worker does not wait for the other workers.
  std::vector<std::string> device_filters{};
  /// Of sessions on a server: bounds the making and the closing of the session, and each run that has no timeout of its
  /// own (`run_options::timeout_in_ms`, which may be longer); 0: none. Without it a session on a server that is not
  /// there waits for ever. A session on `"grpc://localhost:…"` of this very process ignores it when it is made and
  /// closed.
  std::int64_t operation_timeout_in_ms = 0;
  /// Of remote sessions: variables are not shared with the other sessions of a server.
  bool isolate_session_state = false;
  /// Leave graphs as they are: no constant folding, no fusing. For comparisons to the bit.
  bool disable_optimizer = false;
  /// Fields that are not named above: bytes of a ConfigProto, merged into this one.
  std::string more{};

  /// The ConfigProto, as TF_SetConfig takes it.
  [[nodiscard]] std::string bytes() const {
    proto_writer out;
    out.integer(2, intra_op_threads);
    for (auto const& filter : device_filters) out.element(4, filter);
    out.integer(5, inter_op_threads);
    out.boolean(7, allow_soft_placement);
    out.boolean(8, log_device_placement);
    out.boolean(9, use_per_session_threads);
    if (disable_optimizer) {
      out.message(10, [](proto_writer& graph) {
        graph.message(3, [](proto_writer& optimizer) { optimizer.integer(3, -1); });  // opt_level L0
        graph.message(10, [](proto_writer& rewriter) { rewriter.boolean(19, true); });  // disable_meta_optimizer
      });
    }
    out.integer(11, operation_timeout_in_ms);
    out.boolean(15, isolate_session_state);
    out.append(more);
    return static_cast<proto_writer&&>(out).bytes();
  }
};

}  // namespace tensorflow
TAUTLINE_END
