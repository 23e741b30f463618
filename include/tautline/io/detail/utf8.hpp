// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <cstddef>
#include <string>
#include <string_view>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN
namespace detail {

/// The length of the well-formed UTF-8 sequence at `text[at]`, 0 if there is none.
constexpr std::size_t utf8_length(std::string_view text, std::size_t at) {
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

constexpr bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const length = utf8_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
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

}  // namespace detail
TAUTLINE_END
