// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fmt/format.h>

#include <tautline/core/monitored_session.hpp>

/// Formatters for what the library says: `fmt::print("{}\n", session.stop())`.
///
/// | type | reads like |
/// |---|---|
/// | `text` | reached step 1000 |
/// | `error` | loss is nan (nan, hook nan_checker<"loss">, after_run, step 3) |
/// | `stop_record` | stop_at_step at step 1000: reached step 1000; "nobody" while there was none |
/// | `completion` | 1000 steps, stopped by stop_at_step at step 1000: reached step 1000 |
/// | `error_kind`, `callback` | nan, after_run |
///
/// All take the format of strings: `{:>40}`. **Cost** a buffer on the stack; a line is cut at 383 characters.
template <>
struct fmt::formatter<tautline::text> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(tautline::text const& words, Context& out) const {
    char line[384];
    return fmt::formatter<fmt::string_view>::format({line, words.write_to(line, sizeof line)}, out);
  }
};

template <>
struct fmt::formatter<tautline::error> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(tautline::error const& happened, Context& out) const {
    char line[384];
    happened.write_to(line, sizeof line);
    return fmt::formatter<fmt::string_view>::format(line, out);
  }
};

template <>
struct fmt::formatter<tautline::error_kind> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(tautline::error_kind kind, Context& out) const {
    return fmt::formatter<fmt::string_view>::format(tautline::to_string(kind), out);
  }
};

template <>
struct fmt::formatter<tautline::callback> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(tautline::callback where, Context& out) const {
    return fmt::formatter<fmt::string_view>::format(tautline::to_string(where), out);
  }
};

TAUTLINE_BEGIN
namespace detail {

/// @return the number of characters written
inline std::size_t write_stop(char* out, std::size_t size, stop_record const& stop) {
  if (!stop) return static_cast<std::size_t>(fmt::format_to_n(out, size, "nobody").out - out);
  char reason[192];
  stop.reason.write_to(reason, sizeof reason);
  char* end = fmt::format_to_n(out, size, "{}", stop.by).out;
  auto const room = [&] { return size - static_cast<std::size_t>(end - out); };
  if (stop.has_step) end = fmt::format_to_n(end, room(), " at step {}", stop.step).out;
  if (*reason != 0) end = fmt::format_to_n(end, room(), ": {}", reason).out;
  return static_cast<std::size_t>(end - out);
}

}  // namespace detail
TAUTLINE_END

template <>
struct fmt::formatter<tautline::stop_record> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(tautline::stop_record const& stop, Context& out) const {
    char line[384];
    return fmt::formatter<fmt::string_view>::format({line, tautline::detail::write_stop(line, sizeof line, stop)}, out);
  }
};

template <>
struct fmt::formatter<tautline::completion> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(tautline::completion const& done, Context& out) const {
    char line[384];
    char* end = fmt::format_to_n(line, sizeof line, "{} steps", done.steps).out;
    auto const room = [&] { return sizeof line - static_cast<std::size_t>(end - line); };
    if (!done) {
      end = fmt::format_to_n(end, room(), ", error: {}", done.error).out;
    } else if (done.stop) {
      end = fmt::format_to_n(end, room(), ", stopped by ").out;
      end += tautline::detail::write_stop(end, room(), done.stop);
    }
    return fmt::formatter<fmt::string_view>::format({line, static_cast<std::size_t>(end - line)}, out);
  }
};
