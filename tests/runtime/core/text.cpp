// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "support.hpp"

// How numbers are written in reasons and messages.

namespace {

using tautline::text;

std::string formatted(double value) {
  char words[64];
  text("{}", value).write_to(words, sizeof words);
  return words;
}
/// As %g does it, but for the forms that differ on purpose: whole numbers below 10^15 are written out, the exponent has
/// no leading zero, and 0.00001 to 0.0001 are not written with an exponent.
std::string expected(double value) {
  char words[400];
  if (std::fabs(value) < 1e15 && value == std::floor(value)) {
    std::snprintf(words, sizeof words, "%.0f", value == 0 ? 0.0 : value);
    return words;
  }
  std::snprintf(words, sizeof words, "%g", value);
  std::string made = words;
  std::size_t const e = made.find('e');
  if (e == std::string::npos) return made;
  int const exponent = std::atoi(made.c_str() + e + 1);
  std::string const digits = made.substr(0, e);
  if (exponent == -5) {
    std::string figures;
    for (char const c : digits) {
      if (c >= '0' && c <= '9') figures += c;
    }
    return (value < 0 ? "-0.0000" : "0.0000") + figures;
  }
  return digits + (exponent < 0 ? "e-" : "e+") + std::to_string(std::abs(exponent));
}

/// Equal, or apart by one in the sixth figure: where printf rounds exactly, the core's one multiplication may be a hair
/// off a tie.
bool nearly(std::string const& made, std::string const& wanted, double value) {
  if (made == wanted) return true;
  return std::fabs(std::strtod(made.c_str(), nullptr) - std::strtod(wanted.c_str(), nullptr)) <=
         1.1e-5 * std::fabs(value);
}

TEST_CASE("numbers are written with six figures, as by printf") {
  std::mt19937_64 random(20240601);
  std::uniform_real_distribution<double> mantissa(1, 10);
  std::uniform_int_distribution<int> exponent(-300, 300);
  std::uniform_int_distribution<int> usual(-8, 12);
  int off = 0;
  int const rounds = 200'000;
  for (int i = 0; i < rounds; ++i) {
    int const power = i % 2 == 0 ? usual(random) : exponent(random);
    double const value = (i % 3 == 0 ? -1 : 1) * mantissa(random) * std::pow(10, power);
    std::string const made = formatted(value);
    std::string const wanted = expected(value);
    if (made != wanted) {
      ++off;
      CAPTURE(value);
      CAPTURE(wanted);
      REQUIRE_MESSAGE(nearly(made, wanted, value), made);
    }
  }
  CHECK(off < rounds / 10'000);
}

TEST_CASE("decimal fractions of few figures are written as they were meant") {
  for (int i = 1; i < 100'000; ++i) {
    double const value = i / 1000.0;
    if (formatted(value) != expected(value)) {
      CAPTURE(value);
      CHECK(formatted(value) == expected(value));
    }
  }
  CHECK(formatted(0.1) == "0.1");
  CHECK(formatted(0.05) == "0.05");
  CHECK(formatted(2.5e-7) == "2.5e-7");
  CHECK(formatted(1.5e20) == "1.5e+20");
  CHECK(formatted(999999.75) == "1e+6");
  CHECK(formatted(0.9999999) == "1");
  CHECK(formatted(123456.7) == "123457");
}

TEST_CASE("whole numbers are written out") {
  CHECK(formatted(0) == "0");
  CHECK(formatted(1000000) == "1000000");
  CHECK(formatted(123456789012) == "123456789012");
  CHECK(formatted(-17) == "-17");
  CHECK(formatted(999999999999999) == "999999999999999");
  CHECK(formatted(1e15) == "1e+15");
}

TEST_CASE("what is no number has its name") {
  CHECK(formatted(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(formatted(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(formatted(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(formatted(std::numeric_limits<double>::max()) == "1.79769e+308");
  CHECK(formatted(std::numeric_limits<double>::min()) == "2.22507e-308");
  CHECK(formatted(std::numeric_limits<double>::denorm_min()).substr(0, 2) == "4.");
}

std::string words_of(text const& given, std::size_t size = 100) {
  char words[100];
  std::memset(words, '#', sizeof words);
  std::size_t const length = given.write_to(words, size);
  CHECK(std::strlen(words) == length);
  if (size < sizeof words) CHECK(words[size] == '#');  // nothing behind the end
  return words;
}

TEST_CASE("up to two numbers take the places of braces; more braces stay") {
  CHECK(words_of("plain") == "plain");
  CHECK(words_of({"{} of {}", 1, 2.5}) == "1 of 2.5");
  CHECK(words_of({"{}", 7}) == "7");
  CHECK(words_of({"a{}b{}c{}", 1, 2}) == "a1b2c{}");
  CHECK(words_of({"{} {}", 1}) == "1 {}");
  CHECK(words_of("no number: {}") == "no number: {}");
  CHECK(words_of({"{ } {{}", 5}) == "{ } {5");
  CHECK(words_of({"a step of {} bits", std::int64_t{1} << 40}) == "a step of 1099511627776 bits");
  CHECK(words_of({"{}", true}) == "1");
  CHECK(words_of({"{}", std::numeric_limits<double>::quiet_NaN()}) == "nan");
  CHECK(words_of(text()).empty());
  CHECK(text().empty());
  CHECK_FALSE(text("a").empty());
}

TEST_CASE("a text is cut where the buffer ends, and always closed") {
  CHECK(words_of({"the loss is {}", 0.125}, 100) == "the loss is 0.125");
  CHECK(words_of({"the loss is {}", 0.125}, 16) == "the loss is 0.1");
  CHECK(words_of({"the loss is {}", 0.125}, 4) == "the");
  CHECK(words_of({"the loss is {}", 0.125}, 1).empty());
  char untouched = 'x';
  CHECK(text("abc").write_to(&untouched, 0) == 0);
  CHECK(untouched == 'x');
}

}  // namespace
