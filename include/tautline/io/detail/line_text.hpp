// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN
namespace detail {

/// What a number is besides a number, told by its bits: with -ffast-math a compiler takes all numbers for finite.
enum class number_class : std::uint8_t { finite, not_a_number, infinite, minus_infinite };

constexpr number_class classify(double const& number) {
  auto const bits = __builtin_bit_cast(std::uint64_t, number);
  if ((bits >> 52 & 0x7ff) != 0x7ff) return number_class::finite;
  if ((bits & 0xfffffffffffff) != 0) return number_class::not_a_number;
  return bits >> 63 != 0 ? number_class::minus_infinite : number_class::infinite;
}
/// A float is looked at as such: to make a double of it is arithmetic, of which -ffast-math thinks what it likes.
constexpr number_class classify(float const& number) {
  auto const bits = __builtin_bit_cast(std::uint32_t, number);
  if ((bits >> 23 & 0xff) != 0xff) return number_class::finite;
  if ((bits & 0x7fffff) != 0) return number_class::not_a_number;
  return bits >> 31 != 0 ? number_class::minus_infinite : number_class::infinite;
}
constexpr number_class classify(long double const& number) { return classify(static_cast<double>(number)); }

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

/// The length of the UTF-8 sequence at `text[at]`, 0 if there is none.
inline std::size_t utf8_length(std::string_view text, std::size_t at) {
  auto const byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  unsigned const first = byte(0);
  if (first < 0x80) return 1;
  std::size_t const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // longer than need be, half of a surrogate pair, beyond the last code point
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) || (first == 0xf0 && byte(1) < 0x90) ||
      (first == 0xf4 && byte(1) >= 0x90)) {
    return 0;
  }
  return length;
}

/// Text as UTF-8; each byte that is none becomes U+FFFD. `escape` appends for a character of its own, or says false.
template <class Escape>
void append_utf8(std::string& out, std::string_view text, Escape escape) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const length = utf8_length(text, at);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      ++at;
    } else {
      if (length > 1 || !escape(text[at])) out.append(text, at, length);
      at += length;
    }
  }
}

/// A JSON string with its quotes.
inline void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  // nearly all names are plain, so these go at once
  std::size_t plain = 0;
  while (plain < text.size() && text[plain] >= 0x20 && text[plain] < 0x7f && text[plain] != '"' && text[plain] != '\\') {
    ++plain;
  }
  out.append(text, 0, plain);
  append_utf8(out, text.substr(plain), [&](char character) {
    switch (character) {
      case '"': out += "\\\""; return true;
      case '\\': out += "\\\\"; return true;
      case '\n': out += "\\n"; return true;
      case '\r': out += "\\r"; return true;
      case '\t': out += "\\t"; return true;
      default: break;
    }
    if (static_cast<unsigned char>(character) >= 0x20) return false;
    constexpr char hex[] = "0123456789abcdef";
    out += "\\u00";
    out += hex[static_cast<unsigned char>(character) >> 4];
    out += hex[character & 15];
    return true;
  });
  out += '"';
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
