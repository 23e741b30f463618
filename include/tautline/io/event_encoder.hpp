// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <tautline/core/training_state.hpp>
#include <tautline/io/byte_buffer.hpp>
#include <tautline/io/crc32c.hpp>
#include <tautline/io/detail/protobuf.hpp>
#include <tautline/io/histogram.hpp>

TAUTLINE_BEGIN

/// The value of a hyperparameter: a number, a bool or text. It refers to the text.
class hparam_value {
 public:
  enum class kind : std::uint8_t { number, boolean, text };

  template <class Value>
    requires std::is_arithmetic_v<Value>
  // NOLINTNEXTLINE(google-explicit-constructor): {"rate", 0.1} is the spelling
  hparam_value(Value value)
      : kind_(std::same_as<Value, bool> ? kind::boolean : kind::number), number_(static_cast<double>(value)) {}
  template <std::convertible_to<std::string_view> Text>
  // NOLINTNEXTLINE(google-explicit-constructor)
  hparam_value(Text const& value) : kind_(kind::text), text_(value) {}

  [[nodiscard]] kind which() const { return kind_; }
  [[nodiscard]] double number() const { return number_; }
  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  kind kind_;
  double number_ = 0;
  std::string_view text_;
};

/// A hyperparameter: `{"learning_rate", 0.1}`.
struct hparam {
  std::string_view name;
  hparam_value value;
};

/// How a training ended, as the table of hyperparameters shows it.
enum class training_outcome : std::uint8_t { success = 1, failure = 2, running = 3 };

/// What describes a graph node by node: a `training_state`, a finalized `static_graph`, or a class of your own.
template <class Graph>
concept described_graph = requires(Graph& graph, void (*visit)(node_info const&)) { graph.each_node(visit); };

namespace detail {

/// DataType of TensorFlow's types.proto.
constexpr std::uint32_t tensorflow_type(element_type type) {
  constexpr std::uint8_t numbers[] = {10, 4, 6, 17, 5, 19, 14, 22, 3, 1, 23, 9, 2};
  return numbers[static_cast<std::size_t>(type)];
}
inline constexpr std::uint32_t tensorflow_float = 1;
inline constexpr std::uint32_t tensorflow_double = 2;
inline constexpr std::uint32_t tensorflow_string = 7;

/// What TensorBoard does with the values of a tag.
enum class data_class : std::uint32_t { tensor = 2, blobs = 3 };

inline void write_shape(auto& shape, std::span<std::int64_t const> sizes) {
  for (std::int64_t const size : sizes) {
    shape.message(2, [&](auto& dimension) { dimension.integer(1, size); });
  }
}

}  // namespace detail

/// Events of TensorBoard as framed records at the end of a buffer: no file and no clock, so the records can be made in
/// one thread and written in another. Wall times are seconds since 1970. `event_file` says what each kind is good for.
///
/// Scalars are written as `simple_value`, the older form: TensorBoard's fast loader, its default, shows no scalar that is
/// a tensor of doubles, a tensor of floats says no more than `simple_value`, and of this all other readers know how to
/// make scalars, and how to drop those behind a restart. Everything else is a tensor with its plugin named in each record
/// (not in a tag's first one only, so a file can be read from any record on); the numbers of histograms stay doubles.
/// Bytes of tags and texts that are not UTF-8 become '?'.
///
/// **Cost** no allocation once the buffer is large enough; a scalar takes 40 bytes and its tag.
/// **Source** event.proto, summary.proto and tensor.proto of TensorFlow.
class event_encoder {
 public:
  explicit event_encoder(byte_buffer& out) : out_(&out) {}

  /// The first record of a file.
  void version(double wall_time) {
    event(wall_time, 0, [](auto& event) { event.text(3, "brain.Event:2"); });
  }
  // flatten: in one piece the writer lives in registers, which takes half of the time
  [[gnu::flatten]] void scalar(double wall_time, std::string_view tag, double value, step_number step) {
    event(wall_time, step, [&](auto& event) {
      event.message(5, [&](auto& summary) {
        summary.message(1, [&](auto& point) { point.text(1, tag), point.fixed(2, static_cast<float>(value)); });
      });
    });
  }
  void histogram(double wall_time, std::string_view tag, tautline::histogram const& of, step_number step) {
    summary(wall_time, step, tag, "histograms", detail::data_class::tensor, [&](auto& tensor) {
      std::int64_t const sizes[] = {static_cast<std::int64_t>(of.buckets), 3};
      tensor.varint(1, detail::tensorflow_double);
      tensor.message(2, [&](auto& shape) { detail::write_shape(shape, sizes); });
      tensor.doubles(6, 3 * of.buckets, [&](std::size_t i) {
        return i % 3 == 0 ? of.left(i / 3) : i % 3 == 1 ? of.right(i / 3) : static_cast<double>(of.counts[i / 3]);
      });
    });
  }
  /// @param markdown what TensorBoard renders
  void text(double wall_time, std::string_view tag, std::string_view markdown, step_number step) {
    summary(wall_time, step, tag, "text", detail::data_class::tensor, [&](auto& tensor) {
      tensor.varint(1, detail::tensorflow_string);
      tensor.message(2, [](auto&) {});
      tensor.element(8, markdown);
    });
  }
  /// @param encoded the bytes of a PNG file, or of another format that browsers show
  void image(double wall_time, std::string_view tag, std::string_view encoded, int width, int height, step_number step) {
    summary(wall_time, step, tag, "images", detail::data_class::blobs, [&](auto& tensor) {
      std::int64_t const strings[] = {3};
      char digits[2][24];
      tensor.varint(1, detail::tensorflow_string);
      tensor.message(2, [&](auto& shape) { detail::write_shape(shape, strings); });
      tensor.bytes(8, decimal(digits[0], width));
      tensor.bytes(8, decimal(digits[1], height));
      tensor.bytes(8, encoded);
    });
  }
  /// The hyperparameters of this run, and, if there are any, the tags by which runs are compared.
  void hparams(double wall_time, std::span<hparam const> values, std::span<std::string_view const> metrics) {
    if (!metrics.empty()) {
      plugin(wall_time, "_hparams_/experiment", [&](auto& content) {
        content.message(2, [&](auto& experiment) {
          experiment.number(3, wall_time);
          for (hparam const& each : values) {
            experiment.message(4, [&](auto& info) { info.text(1, each.name), info.varint(4, type_of(each.value)); });
          }
          for (std::string_view const tag : metrics) {
            experiment.message(5, [&](auto& info) { info.message(1, [&](auto& name) { name.text(2, tag); }); });
          }
        });
      });
    }
    plugin(wall_time, "_hparams_/session_start_info", [&](auto& content) {
      content.message(3, [&](auto& start) {
        for (hparam const& each : values) {
          start.message(1, [&](auto& entry) {
            entry.text(1, each.name);
            entry.message(2, [&](auto& value) { write_value(value, each.value); });
          });
        }
        start.number(5, wall_time);
      });
    });
  }
  void hparams_end(double wall_time, training_outcome outcome) {
    plugin(wall_time, "_hparams_/session_end_info", [&](auto& content) {
      content.message(4, [&](auto& end) {
        end.varint(1, static_cast<std::uint64_t>(outcome));
        end.number(2, wall_time);
      });
    });
  }
  /// @param bytes a GraphDef of TensorFlow, serialized
  void graph_def(double wall_time, std::string_view bytes, step_number step = 0) {
    event(wall_time, step, [&](auto& event) { event.bytes(4, bytes); });
  }
  /// A graph that describes itself, which is visited several times.
  template <described_graph Graph>
  void graph(double wall_time, Graph& graph, step_number step = 0) {
    event(wall_time, step, [&](auto& event) {
      event.message(4, [&](auto& graph_def) {
        graph.each_node([&](node_info const& node) {
          graph_def.message(1, [&](auto& out) { write_node(out, node); });
        });
      });
    });
  }
  /// From here on only points before `step` and those that follow are good.
  void session_start(double wall_time, step_number step) {
    event(wall_time, step, [](auto& event) { event.message(7, [](auto& log) { log.varint(1, 1); }); });
  }

 private:
  template <class What>
  void event(double wall_time, step_number step, What const& what) {
    record([&](auto& event) {
      event.number(1, wall_time);
      event.integer(2, step);
      what(event);
    });
  }
  template <class Tensor>
  void summary(double wall_time, step_number step, std::string_view tag, std::string_view plugin,
               detail::data_class data, Tensor const& tensor, std::string_view content = {}) {
    event(wall_time, step, [&](auto& event) {
      event.message(5, [&](auto& summary) {
        summary.message(1, [&](auto& value) {
          value.text(1, tag);
          value.message(8, tensor);
          value.message(9, [&](auto& metadata) {
            metadata.message(1, [&](auto& about) {
              about.text(1, plugin);
              if (!content.empty()) about.bytes(2, content);
            });
            metadata.varint(4, static_cast<std::uint64_t>(data));
          });
        });
      });
    });
  }
  /// What stands in the metadata, with a tensor of no elements as its value.
  template <class Content>
  void plugin(double wall_time, std::string_view tag, Content const& fields) {
    detail::proto_size size;
    fields(size);
    byte_buffer content;
    detail::proto_writer writer(content.extend(size.total()));
    fields(writer);
    summary(wall_time, 0, tag, "hparams", detail::data_class::tensor, [](auto& tensor) {
      tensor.varint(1, detail::tensorflow_float);
      tensor.message(2, [](auto& shape) { shape.message(2, [](auto&) {}); });
    }, content.view());
  }
  /// Length, its checksum, the message, its checksum.
  template <class Message>
  void record(Message const& message) {
    detail::proto_size size;
    message(size);
    std::size_t const length = size.total();
    char* const start = out_->extend(length + 16);
    detail::proto_writer writer(start);
    writer.template put_little<8>(length);
    writer.template put_little<4>(masked_crc32c(start, 8));
    message(writer);
    writer.template put_little<4>(masked_crc32c(start + 12, length));
  }

  static void write_node(auto& out, node_info const& node) {
    out.text(1, node.name);
    out.text(2, node.kind);
    for (std::size_t i = 0; i < node.input_count; ++i) out.text(3, node.inputs[i]);
    if (!node.has_form) return;
    std::span const sizes(node.form.shape, node.form.rank);
    auto const attribute = [&](std::string_view name, auto const& value) {
      out.message(5, [&](auto& entry) { entry.text(1, name), entry.message(2, value); });
    };
    // what TensorBoard writes on the edges
    attribute("_output_shapes", [&](auto& value) {
      value.message(1, [&](auto& list) { list.message(7, [&](auto& shape) { detail::write_shape(shape, sizes); }); });
    });
    attribute("dtype", [&](auto& value) { value.varint(6, detail::tensorflow_type(node.form.type)); });
    attribute("shape", [&](auto& value) {
      value.message(7, [&](auto& shape) { detail::write_shape(shape, sizes); });
    });
  }
  /// google.protobuf.Value, one of which is always set.
  static void write_value(auto& out, hparam_value const& value) {
    switch (value.which()) {
      case hparam_value::kind::number: return out.fixed(2, value.number());
      case hparam_value::kind::text: return out.element(3, value.text());
      case hparam_value::kind::boolean: return out.boolean(4, value.number() != 0);
    }
  }
  static std::uint32_t type_of(hparam_value const& value) {
    constexpr std::uint8_t types[] = {3, 2, 1};
    return types[static_cast<std::size_t>(value.which())];
  }
  static std::string_view decimal(char (&digits)[24], int number) {
    char* at = digits + sizeof digits;
    for (unsigned rest = number < 0 ? 0U : static_cast<unsigned>(number); at == digits + sizeof digits || rest != 0; rest /= 10) {
      *--at = static_cast<char>('0' + rest % 10);
    }
    return {at, static_cast<std::size_t>(digits + sizeof digits - at)};
  }

  byte_buffer* out_;
};

TAUTLINE_END
