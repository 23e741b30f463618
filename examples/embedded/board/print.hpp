// SPDX-License-Identifier: BSL-1.0
//
// Lines of text without printf: numbers in fixed point, so that no floating-point arithmetic comes along.

#pragma once

#include <cstddef>
#include <cstdint>

#include "semihosting.hpp"

namespace board {

class line {
 public:
  line& put(char const* words) {
    while (*words != 0) put(*words++);
    return *this;
  }
  line& put(char character) {
    if (used_ < sizeof text_ - 2) text_[used_++] = character;
    return *this;
  }
  line& number(std::uint32_t value) {
    char digits[10];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + value % 10);
    while ((value /= 10) != 0);
    while (count > 0) put(digits[--count]);
    return *this;
  }
  line& integer(std::int32_t value) {
    if (value < 0) put('-');
    return number(value < 0 ? 0U - static_cast<std::uint32_t>(value) : static_cast<std::uint32_t>(value));
  }
  line& hex(std::uint32_t value) {
    for (int i = 28; i >= 0; i -= 4) put("0123456789abcdef"[value >> i & 15]);
    return *this;
  }
  /// With so many digits behind the point, cut.
  line& fixed(float value, int digits) {
    if (value != value) return put("nan");
    if (value < 0) put('-'), value = -value;
    std::uint32_t scale = 1;
    for (int i = 0; i < digits; ++i) scale *= 10;
    auto const all = static_cast<std::uint32_t>(value * static_cast<float>(scale));
    number(all / scale).put('.');
    for (std::uint32_t rest = all % scale; (scale /= 10) > 0; rest %= scale) put(static_cast<char>('0' + rest / scale));
    return *this;
  }
  void say() {
    text_[used_] = '\n';
    text_[used_ + 1] = 0;
    print(text_);
  }

 private:
  char text_[120] = {};
  std::size_t used_ = 0;
};

}  // namespace board
