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

constexpr bool starts_with(char const* text, char const* words) {
  while (*words != 0 && *text == *words) ++text, ++words;
  return *words == 0;
}

/// Appends a type as its user writes it, the same with every compiler: `nan_checker<"loss">`, not
/// `tautline::v0_throwing::nan_checker<tautline::v0_throwing::fixed_string<5>{"loss"}>`. It goes into messages and keys.
constexpr void append_readable(auto& out, char const* text, std::size_t count) {
  constexpr char const* noise[] = {"tautline::", "v0_throwing::", "v0_nonthrowing::", "detail::",
                                   "(anonymous namespace)::", "{anonymous}::"};
  constexpr auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (std::size_t i = 0; i < count;) {
    bool const at_word = i == 0 || !is_word(text[i - 1]);
    std::size_t skipped = 0;
    if (at_word) {
      for (char const* words : noise) {
        if (*words == text[i] && starts_with(text + i, words)) skipped = length_of(words);
      }
    }
    if (skipped == 0 && at_word && starts_with(text + i, "fixed_string<")) {
      std::size_t open = i;
      while (open < count && text[open] != '{') ++open;
      std::size_t close = open + 1;
      while (close + 1 < count && !(text[close] == '"' && text[close + 1] == '}')) ++close;
      if (close + 1 < count) {
        out.append(text + open + 1, close - open);
        skipped = close + 2 - i;
      }
    }
    // a lambda is known by where it stands to one compiler, by its parameters to the other: to us it is a lambda
    if (skipped == 0 && (starts_with(text + i, "(lambda at ") || starts_with(text + i, "<lambda("))) {
      std::size_t close = i + 1;
      for (int open = 1; close < count && open > 0; ++close) {
        if (text[close] == '(' || text[close] == '<') ++open;
        if (text[close] == ')' || text[close] == '>') --open;
      }
      out.append("lambda", 6);
      skipped = close - i;
    }
    if (i > 0 && starts_with(text + i - 1, "> >")) skipped = 1;
    bool const before_name = i + 1 < count && (is_word(text[i + 1]) || text[i + 1] == '(');
    if (text[i] == '&' && before_name) skipped = 1;  // of an address: clang writes it, g++ does not
    if (skipped == 0) out.append(text + i, 1), skipped = 1;
    i += skipped;
  }
}

/// The spelling of `Type`, without RTTI.
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
  append_readable(name, text + begin, length - 1 - begin);
  return name;
}

/// Without the room that was not needed: what goes into a program is as long as the text.
template <std::size_t Length, std::size_t Capacity>
constexpr auto trimmed(static_text<Capacity> const& text) {
  static_text<Length> made;
  made.append(text.characters, Length);
  return made;
}

template <class Type>
inline constexpr auto spelled_type = spell_type<Type>();
template <class Type>
inline constexpr auto type_name_text = trimmed<spelled_type<Type>.length>(spelled_type<Type>);

/// Zero-terminated, static; at most 120 characters.
template <class Type>
inline constexpr char const* type_name = type_name_text<Type>.characters;

}  // namespace detail
TAUTLINE_END
