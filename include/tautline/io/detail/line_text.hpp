// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tautline/io/detail/json_text.hpp>
#include <tautline/io/detail/number_class.hpp>
#include <tautline/io/detail/utf8.hpp>

TAUTLINE_BEGIN
namespace detail {

/// The shortest digits that read back as this very number.
template <class Number>
void append_finite(std::string& out, Number number) {
  char digits[40];
  if constexpr (std::is_same_v<Number, long double>) {
    append_finite(out, static_cast<double>(number));
  } else {
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    // a reader that takes "-0" for a whole number loses the sign
    if constexpr (std::is_floating_point_v<Number>) {
      if (out.ends_with("-0") && digits[0] == '-' && digits[1] == '0') out += ".0";
    }
  }
}

/// A cell of a CSV file, in quotes if it needs them (RFC 4180). A row is one line: line ends become spaces.
inline void append_csv_text(std::string& out, std::string_view text) {
  bool const quoted = text.find_first_of(",\"\r\n") != std::string_view::npos;
  if (quoted) out += '"';
  append_utf8(out, text, [&](char character) {
    if (character == '"') {
      out += "\"\"";
    } else if (character == '\n' || character == '\r') {
      out += ' ';
    } else {
      return false;
    }
    return true;
  });
  if (quoted) out += '"';
}

template <class Value>
concept maybe_absent = requires(Value const& value) {
  { value.has_value() } -> std::same_as<bool>;
  *value;
};
/// What a cell can hold: numbers, bools, text, and a `std::optional` of these.
template <class Value>
inline constexpr bool is_cell = std::is_arithmetic_v<Value> || std::convertible_to<Value const&, std::string_view> ||
                                std::is_same_v<Value, std::nullopt_t>;
template <maybe_absent Value>
inline constexpr bool is_cell<Value> = is_cell<std::remove_cvref_t<decltype(*std::declval<Value const&>())>>;

/// How a format writes what JSON and CSV do differently.
struct json_cells {
  static constexpr std::string_view absent = "null", nan = "null", infinite = "\"Infinity\"", minus_infinite = "\"-Infinity\"";
  static void text(std::string& out, std::string_view text) { append_json_text(out, text); }
};
struct csv_cells {
  static constexpr std::string_view absent = "", nan = "nan", infinite = "inf", minus_infinite = "-inf";
  static void text(std::string& out, std::string_view text) { append_csv_text(out, text); }
};

template <class Format, class Value>
void append_cell(std::string& out, Value const& value) {
  if constexpr (std::is_same_v<Value, std::nullopt_t>) {
    out += Format::absent;
  } else if constexpr (maybe_absent<Value>) {
    if (value.has_value()) {
      append_cell<Format>(out, *value);
    } else {
      out += Format::absent;
    }
  } else if constexpr (std::is_same_v<Value, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::is_floating_point_v<Value>) {
    switch (classify(value)) {
      case number_class::finite: append_finite(out, value); break;
      case number_class::not_a_number: out += Format::nan; break;
      case number_class::infinite: out += Format::infinite; break;
      case number_class::minus_infinite: out += Format::minus_infinite; break;
    }
  } else if constexpr (std::is_same_v<Value, char>) {
    append_finite(out, static_cast<int>(value));
  } else if constexpr (std::is_arithmetic_v<Value>) {
    append_finite(out, +value);  // the character types and all that is smaller than int
  } else {
    Format::text(out, value);
  }
}

}  // namespace detail
TAUTLINE_END
