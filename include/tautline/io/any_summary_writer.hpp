// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tautline/core/training_state.hpp>
#include <tautline/io/summary_writer.hpp>

TAUTLINE_BEGIN

/// A summary writer with all that it can do, as hooks keep it: a reference, or a share of one.
///
///     event_file events("runs/first");
///     summary_saver<"loss", "weights">{events, every_steps{100}}                         // must outlive the session
///     summary_saver<"loss">{std::make_shared<event_file>("runs/first"), every_steps{100}}  // lives as long as the hook
///
/// Beside `add_scalar` a writer may have `add_histogram(tag, numbers, step)` for `std::span<double const>`,
/// `add_graph(training_state const&)`, `mark_restart(step)` and `flush()`; what it lacks is left out.
/// **Cost** an indirect call.
class any_summary_writer {
 public:
  template <summary_writer Writer>
    requires(!std::is_same_v<Writer, any_summary_writer>)
  // NOLINTNEXTLINE(google-explicit-constructor): a writer is meant to convert
  any_summary_writer(Writer& writer) : writer_(&writer), can_(&abilities<Writer>) {}
  template <summary_writer Writer>
  // NOLINTNEXTLINE(google-explicit-constructor)
  any_summary_writer(std::shared_ptr<Writer> writer)
      : owner_(writer), writer_(writer.get()), can_(&abilities<Writer>) {}

  void add_scalar(std::string_view tag, double value, step_number step) const { can_->scalar(writer_, tag, value, step); }
  /// @return whether the writer can
  bool add_histogram(std::string_view tag, std::span<double const> numbers, step_number step) const {
    return can_->histogram(writer_, tag, numbers, step);
  }
  void add_graph(training_state const& state) const { can_->graph(writer_, state); }
  /// What was written of steps beyond `completed` is to be forgotten.
  void mark_restart(step_number completed) const { can_->restart(writer_, completed); }
  void flush() const { can_->flush(writer_); }

 private:
  struct table {
    void (*scalar)(void*, std::string_view, double, step_number);
    bool (*histogram)(void*, std::string_view, std::span<double const>, step_number);
    void (*graph)(void*, training_state const&);
    void (*restart)(void*, step_number);
    void (*flush)(void*);
  };
  template <class Writer>
  static Writer& as(void* writer) {
    return *static_cast<Writer*>(writer);
  }
  template <class Writer>
  static constexpr table abilities{
      [](void* writer, std::string_view tag, double value, step_number step) {
        as<Writer>(writer).add_scalar(tag, value, step);
      },
      [](void* writer, std::string_view tag, std::span<double const> numbers, step_number step) {
        if constexpr (requires { as<Writer>(writer).add_histogram(tag, numbers, step); }) {
          as<Writer>(writer).add_histogram(tag, numbers, step);
          return true;
        } else {
          static_cast<void>(writer), static_cast<void>(tag), static_cast<void>(numbers), static_cast<void>(step);
          return false;
        }
      },
      []([[maybe_unused]] void* writer, [[maybe_unused]] training_state const& state) {
        if constexpr (requires { as<Writer>(writer).add_graph(state); }) as<Writer>(writer).add_graph(state);
      },
      []([[maybe_unused]] void* writer, [[maybe_unused]] step_number completed) {
        if constexpr (requires { as<Writer>(writer).mark_restart(completed); }) as<Writer>(writer).mark_restart(completed);
      },
      []([[maybe_unused]] void* writer) {
        if constexpr (requires { as<Writer>(writer).flush(); }) as<Writer>(writer).flush();
      }};

  std::shared_ptr<void> owner_;
  void* writer_;
  table const* can_;
};

TAUTLINE_END
