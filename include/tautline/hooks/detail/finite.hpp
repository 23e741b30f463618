// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/hooks/nan_checker.hpp>

#include <concepts>
#include <type_traits>

#include <tautline/core/finite.hpp>
#include <tautline/core/text.hpp>

TAUTLINE_BEGIN
namespace detail {

/// What a range-based for takes, without <ranges>.
template <class Value>
concept iterable = std::is_array_v<Value> || requires(Value const& value) {
  value.begin();
  value.end();
} || requires(Value const& value) {
  begin(value);
  end(value);
};

/// No way out of the loop before its end: so it is vectorised, and a value that is finite costs all of it anyway.
template <class Value>
constexpr bool all_finite(Value const& value) {
  if constexpr (std::is_floating_point_v<Value>) {
    return is_finite_number(value);
  } else if constexpr (requires { { value.allFinite() } -> std::convertible_to<bool>; }) {
    return value.allFinite();
  } else if constexpr (iterable<Value>) {
    bool finite = true;
    for (auto const& element : value) finite = finite & detail::all_finite(element);
    return finite;
  } else {
    static_assert(!std::is_arithmetic_v<Value>,
                  "tautline: nan_checker looks at an integral value, which is always finite. Mend: remove its name");
    static_assert(std::is_arithmetic_v<Value>,
                  "tautline: nan_checker looks at floating-point numbers, arrays and ranges of them, and types with "
                  "allFinite(). Mend: fetch one of these, or give the type one");
    return true;
  }
}

/// Where the first value that is not finite stands, counted over all nested ranges, and what it is.
struct not_finite {
  std::uint64_t index = 0;
  double value = 0;
  bool found = false;
};

template <class Value>
constexpr void find_not_finite(Value const& value, not_finite& result) {
  if constexpr (std::is_floating_point_v<Value>) {
    if (is_finite_number(value)) {
      ++result.index;
    } else {
      result.value = number_in_text(value);
      result.found = true;
    }
  } else if constexpr (iterable<Value>) {
    for (auto const& element : value) {
      if (!result.found) detail::find_not_finite(element, result);
    }
  }
  // else: a type that only says allFinite()
}
template <class Value>
TAUTLINE_COLD not_finite find_not_finite(Value const& value) {
  not_finite result;
  detail::find_not_finite(value, result);
  if (!result.found) result = {0, __builtin_nan(""), true};
  return result;
}

}  // namespace detail
TAUTLINE_END
