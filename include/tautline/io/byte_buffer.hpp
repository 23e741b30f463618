// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN

/// Bytes that grow at the end and go at the front. What was allocated stays, so a buffer in use allocates no more once
/// it has been as full as it gets.
class byte_buffer {
 public:
  byte_buffer() = default;
  byte_buffer(byte_buffer&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), used_(std::exchange(other.used_, 0)) {}
  byte_buffer& operator=(byte_buffer&& other) noexcept {
    bytes_ = std::exchange(other.bytes_, {});
    used_ = std::exchange(other.used_, 0);
    return *this;
  }

  [[nodiscard]] char const* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return used_; }
  [[nodiscard]] bool empty() const { return used_ == 0; }
  [[nodiscard]] std::string_view view() const { return {bytes_.data(), used_}; }
  [[nodiscard]] std::size_t capacity() const { return bytes_.size(); }

  void reserve(std::size_t count) {
    if (bytes_.size() < count) bytes_.resize(count);
  }
  /// Room for `count` more bytes at the end, to be written by the caller; good until the next change.
  [[nodiscard]] char* extend(std::size_t count) {
    if (bytes_.size() - used_ < count) [[unlikely]] grow(count);
    char* const place = bytes_.data() + used_;
    used_ += count;
    return place;
  }
  void append(std::string_view more) {
    if (!more.empty()) std::memcpy(extend(more.size()), more.data(), more.size());
  }
  /// Takes bytes away at the front. **Cost** moves what is left.
  void drop_front(std::size_t count) {
    if (count < used_) std::memmove(bytes_.data(), bytes_.data() + count, used_ - count);
    used_ -= count;
  }
  void clear() { used_ = 0; }

 private:
  TAUTLINE_COLD void grow(std::size_t count) { bytes_.resize(used_ + count + used_ / 2); }

  std::vector<char> bytes_;
  std::size_t used_ = 0;
};

TAUTLINE_END
