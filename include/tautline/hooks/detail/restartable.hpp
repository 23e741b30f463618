// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <concepts>

#include <tautline/core/state.hpp>

TAUTLINE_BEGIN
namespace detail {

template <class Callable>
concept resets_itself = requires(Callable& callable) { callable.reset(); };

/// A callable as a hook keeps it. One with state begins a second training as it was given: by its `reset()`, or else, if it
/// can be copied, from a copy. **Cost** that copy.
template <class Callable, bool Copied = lists_state<Callable> && std::copyable<Callable> && !resets_itself<Callable>>
struct restartable {
  [[no_unique_address]] Callable callable;
  constexpr explicit restartable(Callable given) : callable(static_cast<Callable&&>(given)) {}
  constexpr void restart() {
    if constexpr (lists_state<Callable> && resets_itself<Callable>) callable.reset();
  }
};
template <class Callable>
struct restartable<Callable, true> {
  Callable callable;
  Callable first;
  constexpr explicit restartable(Callable given) : callable(given), first(static_cast<Callable&&>(given)) {}
  constexpr void restart() { callable = first; }
};

}  // namespace detail
TAUTLINE_END
