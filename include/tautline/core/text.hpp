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
  if constexpr (std::is_same_v<Number, float>) return double_of_float(number);
#endif
  return static_cast<double>(number);
}

/// Words and up to two numbers: 24 bytes.
class words_and_numbers {
 public:
  constexpr words_and_numbers() = default;
#if TAUTLINE_SOFT_DOUBLE
  constexpr explicit words_and_numbers(char const* given) : words(given), kinds_(0), bits_{0, 0} {}
  // As they came: what it takes to make doubles of them is in the program only if somebody reads them.
  // All at once, so that a compiler sees that a text is but a few stores.
  template <class First>
  constexpr words_and_numbers(char const* given, First first)
      : words(given), kinds_(kind_of(first)), bits_{bits_of(first), 0} {}
  template <class First, class Second>
  constexpr words_and_numbers(char const* given, First first, Second second)
      : words(given), kinds_(kind_of(first) | kind_of(second) << 4), bits_{bits_of(first), bits_of(second)} {}
  constexpr void give(int index, float number) {
    kinds_ |= kind_of(number) << (4 * index);
    bits_[index] = bits_of(number);
  }
  [[nodiscard]] constexpr bool is_given(int index) const { return kind(index) != 0; }
  [[nodiscard]] constexpr double number(int index) const {
    std::uint64_t const bits = bits_[index];
    switch (kind(index)) {
      case positive: return double_of_integer(bits, false);
      case negative: return double_of_integer(0 - bits, true);
      case single: return double_of_float(__builtin_bit_cast(float, static_cast<std::uint32_t>(bits)));
      case full: return __builtin_bit_cast(double, bits);
      default: return __builtin_nan("");
    }
  }

  char const* words = "";

 private:
  enum : unsigned { positive = 1, negative, single, full };
  template <class Number>
  [[nodiscard]] static constexpr unsigned kind_of(Number number) {
    if constexpr (std::is_integral_v<Number>) {
      return number < Number{} ? negative : positive;
    } else {
      return std::is_same_v<Number, float> ? single : full;
    }
  }
  template <class Number>
  [[nodiscard]] static constexpr std::uint64_t bits_of(Number number) {
    if constexpr (std::is_integral_v<Number>) {
      return static_cast<std::uint64_t>(number);
    } else if constexpr (std::is_same_v<Number, float>) {
      return __builtin_bit_cast(std::uint32_t, number);
    } else {
      return __builtin_bit_cast(std::uint64_t, static_cast<double>(number));
    }
  }
  [[nodiscard]] constexpr unsigned kind(int index) const { return kinds_ >> (4 * index) & 15; }
  unsigned kinds_ = 0;  // of each number in four bits; 0: not given
  std::uint64_t bits_[2]{};
#else
  constexpr explicit words_and_numbers(char const* given) : words(given) {}
  template <class First>
  constexpr words_and_numbers(char const* given, First first) : words(given), numbers_{static_cast<double>(first), not_given} {}
  template <class First, class Second>
  constexpr words_and_numbers(char const* given, First first, Second second)
      : words(given), numbers_{static_cast<double>(first), static_cast<double>(second)} {}
  constexpr void give(int index, float number) { numbers_[index] = static_cast<double>(number); }
  [[nodiscard]] constexpr bool is_given(int index) const {
    return __builtin_bit_cast(std::uint64_t, numbers_[index]) != __builtin_bit_cast(std::uint64_t, not_given);
  }
  [[nodiscard]] constexpr double number(int index) const { return numbers_[index]; }

  char const* words = "";

 private:
  // A NaN that no arithmetic makes, told by its bits: braces in a text without numbers are meant as they stand.
  static constexpr double not_given = __builtin_nan("0x7461757");
  double numbers_[2]{not_given, not_given};
#endif
};
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
  consteval text(char const (&words)[Size]) : parts_(words) {}
  /// Numbers of any arithmetic type: a step is 64 bits wide, and braces would refuse to narrow it to double.
  template <class First>
    requires std::is_arithmetic_v<First>
  constexpr text(literal words, First first) : parts_(words.c_str(), first) {}
  template <class First, class Second>
    requires(std::is_arithmetic_v<First> && std::is_arithmetic_v<Second>)
  constexpr text(literal words, First first, Second second) : parts_(words.c_str(), first, second) {}

  /// @param words lives as long as whoever may read this text: an exception's what(), a buffer of the session.
  static constexpr text of_lasting(char const* words) {
    return text(detail::words_and_numbers(words));
  }

  [[nodiscard]] constexpr bool empty() const { return *parts_.words == 0; }
  /// The words as they were written, the places for numbers as `{}`.
  [[nodiscard]] constexpr char const* words() const { return parts_.words; }
  /// NaN where none was given.
  [[nodiscard]] constexpr double number(int index) const { return parts_.number(index); }

  /// Writes the text with its numbers, those that were given, cut to `size - 1` characters, and a closing zero.
  /// @return the number of characters written, without the zero
  std::size_t write_to(char* out, std::size_t size) const;

 private:
  friend class detail::short_text;
  constexpr explicit text(detail::words_and_numbers parts) : parts_(parts) {}
  detail::words_and_numbers parts_;
};

namespace detail {

/// A text in 16 bytes, its numbers with seven digits: for a reason that comes from outside of the driving thread.
class short_text {
 public:
  constexpr short_text() = default;
  constexpr explicit short_text(text const& full) : words_(full.words()) {
    for (int i = 0; i < 2; ++i) {
      if (full.parts_.is_given(i)) numbers_[i] = static_cast<float>(full.number(i));
    }
  }
  [[nodiscard]] constexpr text full() const {
    text made = text::of_lasting(words_);
    for (int i = 0; i < 2; ++i) {
      if (__builtin_bit_cast(std::uint32_t, numbers_[i]) != __builtin_bit_cast(std::uint32_t, not_given)) {
        made.parts_.give(i, numbers_[i]);
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
  for (char const* at = words(); *at != 0; ++at) {
    if (at[0] == '{' && at[1] == '}' && next < 2 && parts_.is_given(next)) {
      written.put(number(next++));
      ++at;
    } else {
      written.put(*at);
    }
  }
  return static_cast<std::size_t>(written.position() - out);
}

TAUTLINE_END
