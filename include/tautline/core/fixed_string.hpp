// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN

/// A string literal as a template argument: what stands between the angle brackets of `fetch<"loss">`.
///
/// @tparam Size characters, the closing zero included; deduced from the literal.
template <std::size_t Size>
struct fixed_string {
  char characters[Size]{};

  // NOLINTNEXTLINE(google-explicit-constructor): a literal is meant to convert
  consteval fixed_string(char const (&literal)[Size]) {
    for (std::size_t i = 0; i < Size; ++i) characters[i] = literal[i];
  }

  [[nodiscard]] constexpr char const* c_str() const { return characters; }
  [[nodiscard]] constexpr std::size_t size() const { return Size - 1; }

  template <std::size_t Other>
  constexpr bool operator==(fixed_string<Other> const& other) const {
    if constexpr (Size != Other) {
      return false;
    } else {
      for (std::size_t i = 0; i < Size; ++i) {
        if (characters[i] != other.characters[i]) return false;
      }
      return true;
    }
  }
};

/// A name that exists: the static, zero-terminated characters of `Name`.
template <fixed_string Name>
inline constexpr char const* name_of = Name.characters;

/// `Names` as one type, for lists of names in declarations and in compiler messages.
template <fixed_string... Names>
struct names {};

TAUTLINE_END
