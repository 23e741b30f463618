// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tautline/core/error.hpp>
#include <tautline/core/training_state.hpp>
#include <tautline/io/summary_writer.hpp>

TAUTLINE_BEGIN

/// A summary writer with all that it can do, as hooks keep it: a reference, a share of one, or none.
///
///     event_file events("runs/first");
///     summary_saver<"loss", "weights">{events, every_steps{100}}                           // must outlive the session
///     summary_saver<"loss">{std::make_shared<event_file>("runs/first"), every_steps{100}}  // lives as long as the hook
///     loss_logger{every_steps{10}, {.writer = events}}                                     // none if it is left out
///
/// Beside `add_scalar` a writer may have `add_histogram(tag, numbers, step)` for `std::span<double const>`,
/// `add_text(tag, markdown, step)`, `add_image(tag, png, width, height, step)` for `std::span<std::uint8_t const>`,
/// `add_graph(training_state const&)`, `mark_restart(step)`, `flush()` and `status()`; what it lacks is left out. Without
/// a writer nothing happens.
/// **Cost** an indirect call.
class any_summary_writer {
 public:
  any_summary_writer() = default;
  template <summary_writer Writer>
    requires(!std::is_same_v<std::remove_const_t<Writer>, any_summary_writer>)
  // NOLINTNEXTLINE(google-explicit-constructor): a writer is meant to convert
  any_summary_writer(Writer& writer)
      : writer_(const_cast<std::remove_const_t<Writer>*>(&writer)), can_(&abilities<Writer>) {}
  template <summary_writer Writer>
  // NOLINTNEXTLINE(google-explicit-constructor)
  any_summary_writer(std::shared_ptr<Writer> writer)
      : owner_(writer),
        writer_(const_cast<std::remove_const_t<Writer>*>(writer.get())),
        can_(writer == nullptr ? &abilities<nobody> : &abilities<Writer>) {}

  [[nodiscard]] explicit operator bool() const { return writer_ != nullptr; }
  void add_scalar(std::string_view tag, double value, step_number step) const { can_->scalar(writer_, tag, value, step); }
  /// @return whether the writer can
  bool add_histogram(std::string_view tag, std::span<double const> numbers, step_number step) const {
    return can_->histogram(writer_, tag, numbers, step);
  }
  /// @return whether the writer can
  bool add_text(std::string_view tag, std::string_view markdown, step_number step) const {
    return can_->text(writer_, tag, markdown, step);
  }
  /// @param png the bytes of a PNG file  @return whether the writer can
  bool add_image(std::string_view tag, std::span<std::uint8_t const> png, int width, int height, step_number step) const {
    return can_->image(writer_, tag, png, width, height, step);
  }
  void add_graph(training_state const& state) const { can_->graph(writer_, state); }
  /// What was written of steps beyond `completed` is to be forgotten.
  void mark_restart(step_number completed) const { can_->restart(writer_, completed); }
  void flush() const { can_->flush(writer_); }
  /// What the writer met last, where it says so: with exceptions it has thrown that.
  [[nodiscard]] tautline::status status() const { return can_->status(writer_); }

 private:
  struct nobody {
    void add_scalar(std::string_view, double, step_number) {}
  };
  struct table {
    void (*scalar)(void*, std::string_view, double, step_number);
    bool (*histogram)(void*, std::string_view, std::span<double const>, step_number);
    bool (*text)(void*, std::string_view, std::string_view, step_number);
    bool (*image)(void*, std::string_view, std::span<std::uint8_t const>, int, int, step_number);
    void (*graph)(void*, training_state const&);
    void (*restart)(void*, step_number);
    void (*flush)(void*);
    tautline::status (*status)(void*);
  };
  template <class Writer>
  static Writer& as([[maybe_unused]] void* writer) {
    if constexpr (std::is_same_v<Writer, nobody>) {
      static nobody none;
      return none;
    } else {
      return *static_cast<Writer*>(writer);
    }
  }
  template <class Writer>
  static constexpr table abilities{
      [](void* writer, std::string_view tag, double value, step_number step) {
        as<Writer>(writer).add_scalar(tag, value, step);
      },
      []([[maybe_unused]] void* writer, [[maybe_unused]] std::string_view tag,
         [[maybe_unused]] std::span<double const> numbers, [[maybe_unused]] step_number step) {
        constexpr bool can = requires { as<Writer>(writer).add_histogram(tag, numbers, step); };
        if constexpr (can) static_cast<void>(as<Writer>(writer).add_histogram(tag, numbers, step));
        return can;
      },
      []([[maybe_unused]] void* writer, [[maybe_unused]] std::string_view tag,
         [[maybe_unused]] std::string_view markdown, [[maybe_unused]] step_number step) {
        constexpr bool can = requires { as<Writer>(writer).add_text(tag, markdown, step); };
        if constexpr (can) as<Writer>(writer).add_text(tag, markdown, step);
        return can;
      },
      []([[maybe_unused]] void* writer, [[maybe_unused]] std::string_view tag,
         [[maybe_unused]] std::span<std::uint8_t const> png, [[maybe_unused]] int width, [[maybe_unused]] int height,
         [[maybe_unused]] step_number step) {
        constexpr bool can = requires { as<Writer>(writer).add_image(tag, png, width, height, step); };
        if constexpr (can) as<Writer>(writer).add_image(tag, png, width, height, step);
        return can;
      },
      []([[maybe_unused]] void* writer, [[maybe_unused]] training_state const& state) {
        if constexpr (requires { as<Writer>(writer).add_graph(state); }) as<Writer>(writer).add_graph(state);
      },
      []([[maybe_unused]] void* writer, [[maybe_unused]] step_number completed) {
        if constexpr (requires { as<Writer>(writer).mark_restart(completed); }) as<Writer>(writer).mark_restart(completed);
      },
      []([[maybe_unused]] void* writer) {
        if constexpr (requires { as<Writer>(writer).flush(); }) as<Writer>(writer).flush();
      },
      []([[maybe_unused]] void* writer) -> tautline::status {
        if constexpr (requires { { as<Writer>(writer).status() } -> std::same_as<tautline::status>; }) {
          return as<Writer>(writer).status();
        } else {
          return {};
        }
      }};

  std::shared_ptr<void const> owner_;
  void* writer_ = nullptr;
  table const* can_ = &abilities<nobody>;
};

TAUTLINE_END
