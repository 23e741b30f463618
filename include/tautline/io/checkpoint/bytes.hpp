// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN

/// An owned piece of memory on a boundary of 64 bytes, not initialised. It keeps what it has when it gets smaller.
class aligned_bytes {
 public:
  static constexpr std::size_t alignment = 64;

  aligned_bytes() = default;
  aligned_bytes(aligned_bytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  aligned_bytes& operator=(aligned_bytes&& other) noexcept {
    std::swap(data_, other.data_), std::swap(size_, other.size_), std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~aligned_bytes() { release(); }

  /// What stood there is lost if it must grow.
  /// @return false without memory; it is empty then
  [[nodiscard]] bool resize(std::size_t size) {
    if (size > capacity_) {
      release();
      data_ = static_cast<std::byte*>(::operator new(size, std::align_val_t{alignment}, std::nothrow));
      if (data_ == nullptr) return false;
      capacity_ = size;
    }
    size_ = size;
    return true;
  }
  /// Writes to every page, so that the system gives the memory now and not at the first use.
  void touch() {
    constexpr std::size_t page = 4096;
    for (std::size_t at = 0; at < size_; at += page) static_cast<std::byte volatile*>(data_)[at] = std::byte{0};
  }

  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] std::byte const* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  void release() {
    ::operator delete(data_, std::align_val_t{alignment});
    data_ = nullptr, size_ = capacity_ = 0;
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

TAUTLINE_END
