// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <string>
#include <string_view>

#include <tautline/io/detail/utf8.hpp>

TAUTLINE_BEGIN
namespace detail {

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
      case '\b': out += "\\b"; return true;
      case '\f': out += "\\f"; return true;
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

}  // namespace detail
TAUTLINE_END
