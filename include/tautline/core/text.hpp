// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include <tautline/core/fixed_string.hpp>

TAUTLINE_BEGIN

/// A string literal, and nothing else: its address is good for the life of the program.
class literal {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is meant to convert
  template <std::size_t Size>
  consteval literal(char const (&text)[Size]) : text_(text) {}
  [[nodiscard]] constexpr char const* c_str() const { return text_; }

 private:
  char const* text_;
};

namespace detail {
class short_text;

// For texts, where the machine has no double: by the bits, as the runtime library's conversions come with all of its
// arithmetic.

/// What a double cannot hold of an integer is cut off.
constexpr double double_of_integer(std::uint64_t magnitude, bool negative) {
  if (magnitude == 0) return 0;
  auto const zeros = static_cast<unsigned>(__builtin_clzll(magnitude));
  std::uint64_t const bits = std::uint64_t{1023 + 63 - zeros} << 52 | magnitude << zeros << 1 >> 12;
  return __builtin_bit_cast(double, bits | std::uint64_t{negative} << 63);
}
/// What is smaller than 2^-126 is 0.
constexpr double double_of_float(float number) {
  auto const bits = __builtin_bit_cast(std::uint32_t, number);
  std::uint32_t const exponent = bits >> 23 & 0xff;
  std::uint64_t made = std::uint64_t{bits >> 31} << 63;
  if (exponent != 0) {
    std::uint64_t const wide = exponent == 0xff ? 0x7ff : exponent + (1023 - 127);  // of infinity and NaN all bits
    made |= wide << 52 | std::uint64_t{bits & 0x7fffff} << 29;
  }
  return __builtin_bit_cast(double, made);
}
template <class Number>
constexpr double number_in_text(Number number) {
#if TAUTLINE_SOFT_DOUBLE
  if constexpr (std::is_integral_v<Number>) {
    bool const negative = number < Number{};
    auto const magnitude = static_cast<std::uint64_t>(number);
    return double_of_integer(negative ? 0 - magnitude : magnitude, negative);
  } else if constexpr (std::is_same_v<Number, float>) {
    return double_of_float(number);
  } else
#endif
    return static_cast<double>(number);
}
}  // namespace detail

/// Text for reasons and errors, without a heap: a literal with up to two places `{}` for numbers.
///
///     ctx.request_stop({"the loss is below {} since step {}", 0.05, 1200});
///
/// For characters that are made at run time there is `request_stop(copied{buffer})`, see `copied`.
///
/// **Cost** 24 bytes; nothing is formatted until somebody reads it.
class text {
 public:
  constexpr text() = default;
  template <std::size_t Size>
  // NOLINTNEXTLINE(google-explicit-constructor): request_stop("plateau") is the usual call
  consteval text(char const (&words)[Size]) : words_(words) {}
  /// Numbers of any arithmetic type: a step is 64 bits wide, and braces would refuse to narrow it to double.
  template <class First, class Second = double>
    requires(std::is_arithmetic_v<First> && std::is_arithmetic_v<Second>)
  constexpr text(literal words, First first, Second second = not_given)
      : words_(words.c_str()), numbers_{detail::number_in_text(first), detail::number_in_text(second)} {}

  /// @param words lives as long as whoever may read this text: an exception's what(), a buffer of the session.
  static constexpr text of_lasting(char const* words) {
    text made;
    made.words_ = words;
    return made;
  }

  [[nodiscard]] constexpr bool empty() const { return *words_ == 0; }
  /// The words as they were written, the places for numbers as `{}`.
  [[nodiscard]] constexpr char const* words() const { return words_; }
  /// NaN where none was given.
  [[nodiscard]] constexpr double number(int index) const { return numbers_[index]; }

  /// Writes the text with its numbers, those that were given, cut to `size - 1` characters, and a closing zero.
  /// @return the number of characters written, without the zero
  std::size_t write_to(char* out, std::size_t size) const;

 private:
  friend class detail::short_text;
  // A NaN that no arithmetic makes, told by its bits: braces in a text without numbers are meant as they stand.
  static constexpr double not_given = __builtin_nan("0x7461757");
  [[nodiscard]] static constexpr bool is_given(double number) {
    return __builtin_bit_cast(std::uint64_t, number) != __builtin_bit_cast(std::uint64_t, not_given);
  }

  char const* words_ = "";
  double numbers_[2]{not_given, not_given};
};

namespace detail {

/// A text in 16 bytes, its numbers with seven digits: for a reason that comes from outside of the driving thread.
class short_text {
 public:
  constexpr short_text() = default;
  constexpr explicit short_text(text const& full) : words_(full.words_) {
    for (int i = 0; i < 2; ++i) {
      if (text::is_given(full.numbers_[i])) numbers_[i] = static_cast<float>(full.numbers_[i]);
    }
  }
  [[nodiscard]] constexpr text full() const {
    text made = text::of_lasting(words_);
    for (int i = 0; i < 2; ++i) {
      if (__builtin_bit_cast(std::uint32_t, numbers_[i]) != __builtin_bit_cast(std::uint32_t, not_given)) {
        made.numbers_[i] = number_in_text(numbers_[i]);
      }
    }
    return made;
  }

 private:
  static constexpr float not_given = __builtin_nanf("0x46175");
  char const* words_ = "";
  float numbers_[2]{not_given, not_given};
};

}  // namespace detail

/// Characters that have to be copied, as their owner may go: `life.request_stop(copied{buffer})`.
/// The session keeps at most 95 of them.
struct copied {
  static constexpr std::size_t capacity = 96;
  char const* characters;
};

namespace detail {

/// Appends to a fixed buffer, silently cut at its end, always zero-terminated.
class writer {
 public:
  writer(char* out, std::size_t size) : out_(out), end_(size == 0 ? out : out + size - 1) {
    if (size != 0) *out_ = 0;
  }

  void put(char character) {
    if (out_ < end_) *out_++ = character, *out_ = 0;
  }
  void put(char const* words) {
    while (*words != 0) put(*words++);
  }

  /// Whole numbers below 10^15 in full; others with six significant digits, without zeros at their end: from 10^6 on, and
  /// below 10^-5, with an exponent, which has a sign and no leading zero (`1.23457e+6`, where C's %g has `e+06`).
  void put(double const& given) {
    // by the bits, and by reference: with -ffast-math a compiler takes an argument for finite
    auto const bits = __builtin_bit_cast(std::uint64_t, given);
    bool const finite = (bits >> 52 & 0x7ff) != 0x7ff;
    if (!finite && (bits & 0xfffffffffffff) != 0) return put("nan");
    if (bits >> 63 != 0) put('-');
    if (!finite) return put("inf");
    double number = given < 0 ? -given : given;
    if (number < 1e15 && number == static_cast<double>(static_cast<std::uint64_t>(number))) {
      return put_integer(static_cast<std::uint64_t>(number));
    }
    int exponent = 0;
    for (; number >= 10; number /= 10) ++exponent;
    for (; number < 1; number *= 10) --exponent;
    auto digits = static_cast<std::uint64_t>(number * 100000 + 0.5);
    if (digits >= 1000000) digits /= 10, ++exponent;
    bool const scientific = exponent < -5 || exponent >= 6;
    int const integral = scientific ? 0 : exponent;  // decimal exponent of the first digit as written
    char figures[6];
    for (int i = 5; i >= 0; --i, digits /= 10) figures[i] = static_cast<char>('0' + digits % 10);
    int last = 5;
    while (last > 0 && figures[last] == '0') --last;
    if (integral < 0) {
      put("0.");
      for (int i = -1; i > integral; --i) put('0');
      for (int i = 0; i <= last; ++i) put(figures[i]);
    } else {
      for (int i = 0; i <= last || i <= integral; ++i) {
        put(i <= last ? figures[i] : '0');
        if (i == integral && i < last) put('.');
      }
    }
    if (scientific) {
      put('e');
      put(exponent < 0 ? '-' : '+');
      put_integer(static_cast<std::uint64_t>(exponent < 0 ? -exponent : exponent));
    }
  }

  [[nodiscard]] char* position() const { return out_; }

 private:
  void put_integer(std::uint64_t number) {
    char digits[20];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0) put(digits[--count]);
  }

  char* out_;
  char* end_;
};

}  // namespace detail

inline std::size_t text::write_to(char* out, std::size_t size) const {
  if (size == 0) return 0;
  detail::writer written(out, size);
  int next = 0;
  for (char const* at = words_; *at != 0; ++at) {
    if (at[0] == '{' && at[1] == '}' && next < 2 && is_given(numbers_[next])) {
      written.put(numbers_[next++]);
      ++at;
    } else {
      written.put(*at);
    }
  }
  return static_cast<std::size_t>(written.position() - out);
}

TAUTLINE_END
