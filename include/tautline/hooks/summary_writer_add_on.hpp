// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <tautline/io/any_summary_writer.hpp>

TAUTLINE_BEGIN

/// Base of hooks that may write summaries beside what else they do. Without a writer all is silent.
///
///     struct gradient_norm : summary_writer_add_on {
///       using summary_writer_add_on::summary_writer_add_on;
///       auto before_run(auto&) { return fetch<"gradient">; }
///       void after_run(auto& ctx, auto& values) { write_scalar("gradient/norm", norm(values[fetch<"gradient">]), ctx.step()); }
///       void end(auto&) { flush_summaries(); }
///     };
///     event_file events("runs/first");
///     auto session = monitored(graph, gradient_norm{events}, summary_saver<"loss">{events});
///
/// One writer may serve several hooks of a session. **Errors** those of the writer: thrown, with `-fno-exceptions` they
/// are `summary_status()`. **Cost** an indirect call; none without a writer.
/// **Source** the SummaryWriterHookAddOn of TensorFlow for Scala.
class summary_writer_add_on {
 public:
  summary_writer_add_on() = default;
  explicit summary_writer_add_on(any_summary_writer writer) : writer_(std::move(writer)) {}

  /// Whether anybody writes.
  [[nodiscard]] bool writes_summaries() const { return static_cast<bool>(writer_); }

 protected:
  void write_scalar(std::string_view tag, double value, step_number step) const {
    writer_.add_scalar(tag, value, step);
  }
  /// Nothing happens if the writer has no histograms.
  void write_histogram(std::string_view tag, std::span<double const> numbers, step_number step) const {
    (void)writer_.add_histogram(tag, numbers, step);
  }
  /// Likewise, as all that follow.
  void write_text(std::string_view tag, std::string_view markdown, step_number step) const {
    (void)writer_.add_text(tag, markdown, step);
  }
  /// @param png the bytes of a PNG file
  void write_image(std::string_view tag, std::span<std::uint8_t const> png, int width, int height, step_number step) const {
    (void)writer_.add_image(tag, png, width, height, step);
  }
  void flush_summaries() const { writer_.flush(); }
  /// What the writer met last; with exceptions it has thrown that.
  [[nodiscard]] tautline::status summary_status() const { return writer_.status(); }

 private:
  any_summary_writer writer_;
};

TAUTLINE_END
