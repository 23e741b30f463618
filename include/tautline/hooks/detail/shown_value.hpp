// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/hooks/tensor_logger.hpp>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include <tautline/hooks/detail/finite.hpp>

TAUTLINE_BEGIN
namespace detail {

/// A value as a log shows it: a number, or the first of many. A copy, since at the end of a training the value itself
/// may be gone; of fixed size, since it is made in every run where the trigger may fire at the end.
class shown_value {
 public:
  static constexpr std::size_t shown = 8;

  template <class Value>
  void take(Value const& value) {
    count_ = 0;
    scalar_ = std::is_arithmetic_v<Value>;
    integral_ = true;
    add(value);
  }

  [[nodiscard]] bool is_scalar() const { return scalar_; }
  [[nodiscard]] double number() const { return numbers_[0]; }

  /// "0.25", or "[1, 2, 3]", or "[1, 2, 3, 4, 5, 6, 7, 8, …] (640)".
  void write_to(std::string& out) const {
    auto place = std::back_inserter(out);
    if (scalar_) {
      write_number(place, numbers_[0]);
      return;
    }
    out += '[';
    for (std::size_t i = 0; i < count_ && i < shown; ++i) {
      if (i > 0) out += ", ";
      write_number(place, numbers_[i]);
    }
    if (count_ > shown) {
      fmt::format_to(place, ", …] ({})", count_);
    } else {
      out += ']';
    }
  }

 private:
  template <class Value>
  void add(Value const& value) {
    if constexpr (std::is_arithmetic_v<Value>) {
      integral_ = integral_ && std::is_integral_v<Value>;
      if (count_ < shown) numbers_[count_] = static_cast<double>(value);
      ++count_;
    } else if constexpr (iterable<Value>) {
      if constexpr (requires { value.size(); value.data(); }) {
        // numbers beyond those shown need not be looked at
        using element = std::remove_cvref_t<decltype(*value.data())>;
        if constexpr (std::is_arithmetic_v<element>) {
          auto const size = static_cast<std::size_t>(value.size());
          std::size_t const wanted = count_ < shown ? shown - count_ : 0;
          for (std::size_t i = 0; i < size && i < wanted; ++i) add(value.data()[i]);
          if (size > wanted) count_ += size - wanted;
          return;
        }
      }
      for (auto const& element : value) add(element);
    } else {
      static_assert(std::is_arithmetic_v<Value>,
                    "tautline: a logging hook shows numbers, and arrays and ranges of them. Mend: fetch one of these");
    }
  }
  template <class Place>
  void write_number(Place& place, double number) const {
    if (integral_ && number > -9e15 && number < 9e15) {
      fmt::format_to(place, "{}", static_cast<std::int64_t>(number));
    } else {
      fmt::format_to(place, "{:.6g}", number);
    }
  }

  double numbers_[shown]{};
  std::size_t count_ = 0;
  bool scalar_ = true;
  bool integral_ = false;
};

}  // namespace detail
TAUTLINE_END
