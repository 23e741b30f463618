// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/hooks/pipeline.hpp>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN

/// The last values of a `window`, the oldest first.
template <class Value, std::size_t Count>
class window_view {
 public:
  constexpr window_view(Value const* ring, std::size_t oldest) : ring_(ring), oldest_(oldest) {}

  static constexpr std::size_t size() { return Count; }
  [[nodiscard]] constexpr Value operator[](std::size_t index) const { return ring_[(oldest_ + index) % Count]; }
  [[nodiscard]] constexpr Value oldest() const { return ring_[oldest_]; }
  [[nodiscard]] constexpr Value newest() const { return (*this)[Count - 1]; }
  [[nodiscard]] constexpr Value sum() const {
    Value total = 0;
    for (std::size_t i = 0; i < Count; ++i) total = static_cast<Value>(total + (*this)[i]);
    return total;
  }
  [[nodiscard]] constexpr Value mean() const { return static_cast<Value>(sum() / static_cast<Value>(Count)); }
  /// NaN has no order: where there is one, it may or may not be left out.
  [[nodiscard]] constexpr Value lowest() const {
    Value found = ring_[0];
    for (Value const value : *this) found = value < found ? value : found;
    return found;
  }
  [[nodiscard]] constexpr Value highest() const {
    Value found = ring_[0];
    for (Value const value : *this) found = found < value ? value : found;
    return found;
  }

  struct iterator {
    window_view const* of;
    std::size_t index;
    constexpr Value operator*() const { return (*of)[index]; }
    constexpr iterator& operator++() {
      ++index;
      return *this;
    }
    constexpr bool operator==(iterator const&) const = default;
  };
  [[nodiscard]] constexpr iterator begin() const { return {this, 0}; }
  [[nodiscard]] constexpr iterator end() const { return {this, Count}; }

 private:
  Value const* ring_;
  std::size_t oldest_;
};

TAUTLINE_END
