// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tautline/sessions/tensorflow/protobuf.hpp>

TAUTLINE_BEGIN
namespace tensorflow {

/// What is recorded about a run. `full` holds the other two; without an accelerator it is the same as `software`.
enum class trace_level : std::uint8_t { none = 0, software = 1, hardware = 2, full = 3 };

/// How a run is to be made: a part of a request, of the caller and of each hook. Those of one run are merged by
/// `operator|=`.
///
///     session.run(target<"train">, fetch<"loss">, tensorflow::run_options{.trace = trace_level::full});
///
/// **Source** RunOptions in tensorflow/core/protobuf/config.proto; merged as tf.train.MonitoredSession does it, which
/// takes the longest timeout where this takes the shortest: whoever set one does not want to wait longer.
struct run_options {
  trace_level trace = trace_level::none;
  /// The run fails with DEADLINE_EXCEEDED after that time; 0: none. It bounds a run, not the making of a session.
  std::int64_t timeout_in_ms = 0;
  /// On which of the session's thread pools the ops run: 0 is the usual one, -1 none but the caller's thread.
  std::int32_t inter_op_thread_pool = 0;
  /// The metadata show the graphs that were run, one for each device.
  bool output_partition_graphs = false;
  /// A run that finds no memory says in its error who holds what.
  bool report_tensor_allocations_upon_oom = false;

  friend constexpr bool operator==(run_options const&, run_options const&) = default;

  /// The higher trace level, the shorter timeout, everything that one of the two wants; of two thread pools this one.
  constexpr run_options& operator|=(run_options const& other) {
    if (other.trace > trace) trace = other.trace;
    if (other.timeout_in_ms > 0 && (timeout_in_ms <= 0 || other.timeout_in_ms < timeout_in_ms)) {
      timeout_in_ms = other.timeout_in_ms;
    }
    if (inter_op_thread_pool == 0) inter_op_thread_pool = other.inter_op_thread_pool;
    output_partition_graphs |= other.output_partition_graphs;
    report_tensor_allocations_upon_oom |= other.report_tensor_allocations_upon_oom;
    return *this;
  }
  friend constexpr run_options operator|(run_options one, run_options const& other) { return one |= other; }

  /// Whether a run with these differs from one without options: if not, nothing need be passed to it.
  [[nodiscard]] constexpr bool any() const { return !(*this == run_options{}); }
  /// Whether a run with these gives metadata that somebody wants.
  [[nodiscard]] constexpr bool wants_metadata() const { return trace != trace_level::none || output_partition_graphs; }

  /// The RunOptions, as TF_SessionRun takes it. **Cost** none for those that are all default: an empty string.
  [[nodiscard]] std::string bytes() const {
    proto_writer out;
    out.integer(1, static_cast<std::int64_t>(trace));
    out.integer(2, timeout_in_ms);
    out.integer(3, inter_op_thread_pool);
    out.boolean(5, output_partition_graphs);
    out.boolean(7, report_tensor_allocations_upon_oom);
    return static_cast<proto_writer&&>(out).bytes();
  }
};

/// One op that was run. The views are good as long as the bytes of the metadata.
/// **Source** the same times as those that tensorflow.python.client.timeline shows
struct op_slice {
  std::string_view device;          ///< "/job:localhost/replica:0/task:0/device:CPU:0"
  std::string_view node;            ///< its name in the graph
  std::string_view timeline_label;  ///< "w/read = Identity(w)", with its attributes; empty on accelerators
  std::int64_t start_micros = 0;      ///< since 1970: with all that belongs to the op, not only its kernel
  std::int64_t micros = 0;            ///< how long it took
  std::int64_t scheduled_micros = 0;  ///< since 1970: when its inputs were there; 0 if it is not told
  std::uint32_t thread_id = 0;

  /// The op's type ("MatMul"), as the label tells it. Empty if it does not.
  [[nodiscard]] std::string_view op() const {
    auto const begin = timeline_label.find(" = ");
    if (begin == std::string_view::npos) return {};
    auto const rest = timeline_label.substr(begin + 3);
    return rest.substr(0, rest.find('('));
  }
};

/// What TensorFlow recorded about a run: a view of the bytes of a RunMetadata.
///
///     TF_Buffer* buffer = TF_NewBuffer();   // given to TF_SessionRun
///     run_metadata const recorded(buffer->data, buffer->length);
///     recorded.each_slice([&](op_slice const& one) { trace.slice(one.node, one.op(), …); });
///
/// **Cost** nothing until somebody looks; then one pass over the bytes, without an allocation.
class run_metadata {
 public:
  run_metadata() = default;  ///< of a run of which nothing was recorded
  explicit run_metadata(std::string_view bytes) : bytes_(bytes) {}
  run_metadata(void const* data, std::size_t length)
      : bytes_(data == nullptr ? std::string_view() : std::string_view(static_cast<char const*>(data), length)) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  /// The RunMetadata as it came, for an event file or for Python.
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

  /// Calls `visit(op_slice const&)` for each op, device after device, in the order of the record.
  /// @return false if the bytes are no RunMetadata; some ops may have been shown before
  template <class Visit>
  bool each_slice(Visit&& visit) const {
    return each_device([&](std::string_view device, proto_reader& in) {
      if (in.field() != 2) return;
      op_slice one;
      one.device = device;
      read_node(in, one);
      if (!in.failed()) visit(static_cast<op_slice const&>(one));
    });
  }
  /// Calls `visit(device, thread id, its name)` for each thread that has a name. @return as `each_slice`
  template <class Visit>
  bool each_thread(Visit&& visit) const {
    return each_device([&](std::string_view device, proto_reader& in) {
      if (in.field() != 3) return;
      std::int64_t id = 0;
      std::string_view name;
      in.message([&](proto_reader& entry) {
        if (entry.field() == 1) id = entry.integer();
        if (entry.field() == 2) name = entry.bytes();
      });
      if (!in.failed()) visit(device, static_cast<std::uint32_t>(id), name);
    });
  }

 private:
  template <class Visit>
  bool each_device(Visit&& visit) const {
    return read_message(bytes_, [&](proto_reader& in) {
      if (in.field() != 1) return;
      in.message([&](proto_reader& stats) {
        if (stats.field() != 1) return;
        std::string_view device;  // it need not come before the nodes
        stats.message([&](proto_reader& fields) {
          if (fields.field() == 1) device = fields.bytes();
        });
        stats.message([&](proto_reader& fields) { visit(device, fields); });
      });
    });
  }
  static void read_node(proto_reader& in, op_slice& to) {
    in.message([&](proto_reader& node) {
      switch (node.field()) {
        case 1: to.node = node.bytes(); break;
        case 2: to.start_micros = node.integer(); break;
        case 5: to.micros = node.integer(); break;
        case 8: to.timeline_label = node.bytes(); break;
        case 9: to.scheduled_micros = node.integer(); break;
        case 10: to.thread_id = static_cast<std::uint32_t>(node.integer()); break;
        default: break;
      }
    });
    if (to.micros < 0) to.micros = 0;
  }

  std::string_view bytes_{};
};

}  // namespace tensorflow
TAUTLINE_END
