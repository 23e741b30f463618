// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include <tautline/testing/allocations.hpp>

// Replaces operator new and delete of the program by ones that count. Include it in exactly one file.

namespace {

/// Before main, so that every program with this header counts.
[[maybe_unused]] bool const tautline_counts_allocations = [] {
  tautline::testing::detail::allocations_are_counted = true;
  return true;
}();

void* tautline_counted(std::size_t size, std::size_t alignment) noexcept {
  void* made = nullptr;
  if (alignment > alignof(std::max_align_t)) {
    made = std::aligned_alloc(alignment, (size / alignment + 1) * alignment);
  } else {
    made = std::malloc(size == 0 ? 1 : size);
  }
  if (made != nullptr) {
    tautline::testing::detail::live_count.fetch_add(1, std::memory_order_relaxed);
    if (tautline::testing::detail::uncounted_depth == 0) ++tautline::testing::detail::thread_allocations;
  }
  return made;
}
void* tautline_counted_or_throw(std::size_t size, std::size_t alignment) {
  void* const made = tautline_counted(size, alignment);
  if (made == nullptr) {
#if TAUTLINE_EXCEPTIONS
    throw std::bad_alloc();
#else
    std::abort();
#endif
  }
  return made;
}
void tautline_freed(void* gone) noexcept {
  if (gone != nullptr) tautline::testing::detail::live_count.fetch_sub(1, std::memory_order_relaxed);
  std::free(gone);
}

}  // namespace

void* operator new(std::size_t size) { return tautline_counted_or_throw(size, 1); }
void* operator new[](std::size_t size) { return tautline_counted_or_throw(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return tautline_counted_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return tautline_counted_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, std::nothrow_t const&) noexcept { return tautline_counted(size, 1); }
void* operator new[](std::size_t size, std::nothrow_t const&) noexcept { return tautline_counted(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment, std::nothrow_t const&) noexcept {
  return tautline_counted(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, std::nothrow_t const&) noexcept {
  return tautline_counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* gone) noexcept { tautline_freed(gone); }
void operator delete[](void* gone) noexcept { tautline_freed(gone); }
void operator delete(void* gone, std::size_t) noexcept { tautline_freed(gone); }
void operator delete[](void* gone, std::size_t) noexcept { tautline_freed(gone); }
void operator delete(void* gone, std::align_val_t) noexcept { tautline_freed(gone); }
void operator delete[](void* gone, std::align_val_t) noexcept { tautline_freed(gone); }
void operator delete(void* gone, std::size_t, std::align_val_t) noexcept { tautline_freed(gone); }
void operator delete[](void* gone, std::size_t, std::align_val_t) noexcept { tautline_freed(gone); }
void operator delete(void* gone, std::nothrow_t const&) noexcept { tautline_freed(gone); }
void operator delete[](void* gone, std::nothrow_t const&) noexcept { tautline_freed(gone); }
