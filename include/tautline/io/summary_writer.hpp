// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN

/// Where hooks write numbers over steps: event files, JSON lines, CSV, or anything of your own.
///
///     struct my_writer { void add_scalar(std::string_view tag, double value, tautline::step_number step); };
template <class Writer>
concept summary_writer = requires(Writer& writer, std::string_view tag, double value, step_number step) {
  writer.add_scalar(tag, value, step);
};

/// A summary writer as hooks keep it: nothing, a reference, or a share of one.
///
///     my_writer numbers;
///     loss_logger{every_steps{10}, {.writer = numbers}}                        // must outlive the session
///     loss_logger{every_steps{10}, {.writer = std::make_shared<my_writer>()}}  // lives as long as the hook
class scalar_writer {
 public:
  scalar_writer() = default;
  template <summary_writer Writer>
    requires(!std::is_same_v<Writer, scalar_writer>)
  // NOLINTNEXTLINE(google-explicit-constructor): `.writer = events` is the spelling
  scalar_writer(Writer& writer)
      : call_([&writer](std::string_view tag, double value, step_number step) { writer.add_scalar(tag, value, step); }) {}
  template <summary_writer Writer>
  // NOLINTNEXTLINE(google-explicit-constructor)
  scalar_writer(std::shared_ptr<Writer> writer)
      : call_([writer = std::move(writer)](std::string_view tag, double value, step_number step) {
          writer->add_scalar(tag, value, step);
        }) {}

  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(call_); }
  /// Nothing happens if there is none.
  void add_scalar(std::string_view tag, double value, step_number step) const {
    if (call_) call_(tag, value, step);
  }

 private:
  std::function<void(std::string_view, double, step_number)> call_;
};

TAUTLINE_END
