// SPDX-License-Identifier: BSL-1.0
//
// A number that changes with every bit of the results.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

class digest {
 public:
  template <class Number>
  digest& add(Number number) {
    unsigned char bytes[sizeof number];
    __builtin_memcpy(bytes, &number, sizeof number);
    for (unsigned char each : bytes) value_ = (value_ ^ each) * 16777619U;
    return *this;
  }
  template <class Number, std::size_t Size>
  digest& add(std::array<Number, Size> const& numbers) {
    for (Number const& each : numbers) add(each);
    return *this;
  }
  [[nodiscard]] std::uint32_t value() const { return value_; }

 private:
  std::uint32_t value_ = 2166136261U;
};
