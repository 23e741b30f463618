// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <concepts>
#include <cstdio>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN
namespace detail {

/// Whether a progress bar stands, without a line end, where lines to the standard error go.
inline std::atomic<bool> open_line{false};

inline void write_line(std::string_view line) {
  if (open_line.exchange(false, std::memory_order_relaxed)) std::fputs("\r\x1b[K", stderr);
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

}  // namespace detail

/// Where a hook says things: any callable that takes a line, without its end, as a `std::string_view`.
///
///     tensor_logger<"loss">{every_steps{100}, {.log = [&](std::string_view line) { lines.emplace_back(line); }}}
///     tensor_logger<"loss">{every_steps{100}, {.log = false, .writer = events}}   // silent
///
/// The default writes a line to the standard error, which keeps the standard output for results; a progress bar that
/// stands there is wiped first and comes back. The callable is copied in: pass `std::ref(sink)` to share one.
/// **Errors** what the callable throws is an error of the hook.
/// **Cost** an indirect call a line.
class log_sink {
 public:
  log_sink() : call_(&detail::write_line) {}
  /// `false` silences, `true` is the default.
  template <std::same_as<bool> Bool>
  // NOLINTNEXTLINE(google-explicit-constructor): `.log = false` is the spelling
  log_sink(Bool on) {
    if (on) call_ = &detail::write_line;
  }
  template <class Sink>
    requires(!std::same_as<std::remove_cvref_t<Sink>, log_sink> && !std::same_as<std::remove_cvref_t<Sink>, bool> &&
             std::invocable<std::remove_cvref_t<Sink>&, std::string_view>)
  // NOLINTNEXTLINE(google-explicit-constructor)
  log_sink(Sink&& sink) : call_(std::forward<Sink>(sink)) {}

  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(call_); }
  /// Nothing happens if it is silent.
  void operator()(std::string_view line) const {
    if (call_) call_(line);
  }

 private:
  std::function<void(std::string_view)> call_;
};

TAUTLINE_END
