// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <cstdint>
#include <string>
#include <string_view>

#include <tautline/core/fixed_string.hpp>
#include <tautline/io/detail/line_text.hpp>

// Prometheus's text format, version 0.0.4: names, values, escapes.

TAUTLINE_BEGIN
namespace detail {

/// Whether Prometheus takes this name: letters, digits and "_", no digit first; a label's has not "__" first either.
/// Colons are left to the rules of the server.
constexpr bool is_metric_name(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (char const c : name) {
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return true;
}
constexpr bool is_label_name(std::string_view name) {
  return is_metric_name(name) && !name.starts_with("__") && name != "le" && name != "quantile";
}

inline void append_metric_value(std::string& out, double value) {
  switch (classify(value)) {
    case number_class::finite: append_finite(out, value); break;
    case number_class::not_a_number: out += "NaN"; break;
    case number_class::infinite: out += "+Inf"; break;
    case number_class::minus_infinite: out += "-Inf"; break;
  }
}

/// @param quotes whether quotes are escaped too: in a label's value they are, in a help text they are not
inline void append_metric_text(std::string& out, std::string_view text, bool quotes) {
  append_utf8(out, text, [&](char character) {
    if (character == '\\') {
      out += "\\\\";
    } else if (character == '\n') {
      out += "\\n";
    } else if (character == '"' && quotes) {
      out += "\\\"";
    } else {
      return false;
    }
    return true;
  });
}

}  // namespace detail
TAUTLINE_END
