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
/// | `stop_record` | stop_at_step at step 1000: reached step 1000; "nobody" while there was none; end_of_input at step 1801 |
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

template <>
struct fmt::formatter<tautline::stop_record> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(tautline::stop_record const& stop, Context& out) const {
    char line[384];
    return fmt::formatter<fmt::string_view>::format({line, stop.write_to(line, sizeof line)}, out);
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
      end += done.stop.write_to(end, room());
    }
    return fmt::formatter<fmt::string_view>::format({line, static_cast<std::size_t>(end - line)}, out);
  }
};
