// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/fixed_string.hpp>

TAUTLINE_BEGIN
namespace detail {

/// A static character array that can be assembled at compile time.
template <std::size_t Capacity>
struct static_text {
  char characters[Capacity + 1]{};
  std::size_t length = 0;

  constexpr void append(char const* text) {
    for (; *text != 0 && length < Capacity; ++text) characters[length++] = *text;
  }
  constexpr void append(char const* text, std::size_t count) {
    for (std::size_t i = 0; i < count && length < Capacity; ++i) characters[length++] = text[i];
  }
};

constexpr std::size_t length_of(char const* text) {
  std::size_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}

constexpr bool same_text(char const* a, char const* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

/// The compiler's own spelling of `Type`, without RTTI.
template <class Type>
constexpr auto spell_type() {
  // "... [with Type = X]" (g++), "... [Type = X]" (clang)
  char const* text = __PRETTY_FUNCTION__;
  std::size_t const length = length_of(text);
  std::size_t begin = 0;
  while (!(text[begin] == 'T' && text[begin + 1] == 'y' && text[begin + 2] == 'p' && text[begin + 3] == 'e' &&
           text[begin + 4] == ' ' && text[begin + 5] == '=')) {
    ++begin;
  }
  begin += 7;
  static_text<120> name;
  name.append(text + begin, length - 1 - begin);
  return name;
}

template <class Type>
inline constexpr auto type_name_text = spell_type<Type>();

/// Zero-terminated, static; at most 120 characters.
template <class Type>
inline constexpr char const* type_name = type_name_text<Type>.characters;

}  // namespace detail
TAUTLINE_END
