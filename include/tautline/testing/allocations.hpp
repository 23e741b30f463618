// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>

#include <tautline/core/config.hpp>

// How often the heap was used. Nothing is counted unless one file of the program includes
// <tautline/testing/count_allocations.hpp>.

TAUTLINE_BEGIN
namespace testing {
namespace detail {

inline std::atomic<bool> allocations_are_counted{false};
inline std::atomic<long> live_count{0};
inline thread_local long thread_allocations = 0;
inline thread_local int uncounted_depth = 0;

}  // namespace detail

/// Whether this program counts.
[[nodiscard]] inline bool counts_allocations() { return detail::allocations_are_counted.load(); }
/// Allocations of this thread so far, but for those that the kit makes for itself.
[[nodiscard]] inline long allocations() { return detail::thread_allocations; }
/// Allocations of all threads that have not been freed yet.
[[nodiscard]] inline long live_allocations() { return detail::live_count.load(); }

/// For as long as it lives, allocations of this thread are not counted in `allocations()`: for what a test writes down.
class uncounted {
 public:
  uncounted() { ++detail::uncounted_depth; }
  uncounted(uncounted const&) = delete;
  uncounted& operator=(uncounted const&) = delete;
  ~uncounted() { --detail::uncounted_depth; }
};

}  // namespace testing
TAUTLINE_END
