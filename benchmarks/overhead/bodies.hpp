// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the hooks do: the same functions for every competitor. How a hook is called, and how it gets the loss, is what
// the competitors differ in.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "steps.hpp"

namespace overhead {

/// The cases.
enum class kind {
  idle,       ///< called before and after each run, and does nothing
  working,    ///< counter, running mean, finite check, stop test, sampler every 1000 steps, in turn
  triggered,  ///< reads the loss every 1000 steps
  fetching    ///< reads the loss in each step and adds it
};
constexpr char const* name_of(kind which) {
  constexpr char const* names[] = {"idle", "working", "triggered", "fetching"};
  return names[static_cast<int>(which)];
}
/// Whether the loss is wanted in each step. Else who wants it computes it then.
constexpr bool reads_each_loss(kind which) { return which == kind::working || which == kind::fetching; }

inline constexpr std::int64_t period = 1000;

/// What a body wants of the run, after it.
enum class wants { nothing, loss, step, loss_when_due };

struct idle {
  static constexpr wants needs = wants::nothing;
  [[gnu::always_inline]] void before() {}
  [[gnu::always_inline]] void after() {}
  void each(auto) const {}
};

struct counter {
  static constexpr wants needs = wants::nothing;
  std::int64_t runs = 0;
  [[gnu::always_inline]] void after() { ++runs; }
  void each(auto see) const { see(runs); }
};

struct running_mean {
  static constexpr wants needs = wants::loss;
  float mean = 0;
  [[gnu::always_inline]] bool after(float loss) {
    mean += 0.01F * (loss - mean);
    return true;
  }
  void each(auto see) const { see(mean); }
};

/// @tparam First false: it looks at a value of its own. Several checks of one value would be one to a compiler that
///         sees them all in one loop, which is no matter of hooks.
template <bool First>
struct finite_check {
  static constexpr wants needs = wants::loss;
  /// False is an error.
  [[gnu::always_inline]] bool after(float loss) {
    if constexpr (!First) {
#ifdef __SSE__
      asm volatile("" : "+x"(loss));  // in its register; each processor has another letter for those
#else
      asm volatile("" : "+m"(loss));  // right everywhere, and costs a store and a load in all loops alike
#endif
    }
    return loss - loss == 0;
  }
  void each(auto) const {}
};

struct stop_test {
  static constexpr wants needs = wants::step;
  std::int64_t last;
  /// True asks for a stop.
  [[gnu::always_inline]] bool after(std::int64_t step) { return step >= last; }
  void each(auto see) const { see(last); }
};

/// Adds the loss. Two types in turn, so that no vectoriser pairs the sums of neighbours.
template <class Number, bool EachStep>
struct adder {
  static constexpr wants needs = EachStep ? wants::loss : wants::loss_when_due;
  Number sum = 0;
  [[gnu::always_inline]] bool after(float loss) {
    sum += static_cast<Number>(loss);
    return true;
  }
  void each(auto see) const { see(sum); }
};

/// What a hook that acts every `length` steps remembers, where nothing else provides it.
struct every {
  std::int64_t next;
  std::int64_t length;
  explicit every(std::int64_t steps) : next(steps), length(steps) {}
  [[gnu::always_inline]] bool due(std::int64_t step) const { return __builtin_expect(step >= next, 0) != 0; }
  [[gnu::always_inline]] void acted(std::int64_t step) { next = (step / length + 1) * length; }
};

namespace detail {
// Bodies of several places may be of one type: competitors that need a type for each hook have its place in it, too.
template <kind Kind, std::size_t Index>
auto choose_body() {
  if constexpr (Kind == kind::idle) return std::type_identity<idle>{};
  if constexpr (Kind == kind::working) {
    if constexpr (Index % 5 == 0) return std::type_identity<counter>{};
    if constexpr (Index % 5 == 1) return std::type_identity<running_mean>{};
    if constexpr (Index % 5 == 2) return std::type_identity<finite_check<Index == 2>>{};
    if constexpr (Index % 5 == 3) return std::type_identity<stop_test>{};
    if constexpr (Index % 5 == 4) return std::type_identity<adder<float, false>>{};
  }
  if constexpr (Kind == kind::triggered || Kind == kind::fetching) {
    using number = std::conditional_t<Index % 2 == 0, float, double>;
    return std::type_identity<adder<number, Kind == kind::fetching>>{};
  }
}
}  // namespace detail

/// What the hook at this place does.
template <kind Kind, std::size_t Index>
using body_at = typename decltype(detail::choose_body<Kind, Index>())::type;

template <class Body>
Body make_body(std::int64_t steps) {
  if constexpr (Body::needs == wants::step) {
    return Body{steps};
  } else {
    return Body{};
  }
}

/// A body with the trigger that it needs, for loops that provide none.
template <class Body>
struct standing {
  Body body;
  explicit standing(std::int64_t steps) : body(make_body<Body>(steps)) {}
};
template <class Body>
  requires(Body::needs == wants::loss_when_due)
struct standing<Body> {
  Body body;
  every trigger{opaque(period)};
  explicit standing(std::int64_t steps) : body(make_body<Body>(steps)) {}
};

template <class Body>
concept looks_before = requires(Body& body) { body.before(); };

/// One hook after a run. @return false if it found an error
template <class Body, class Training>
[[gnu::always_inline]] inline bool act(standing<Body>& at, Training& here) {
  if constexpr (Body::needs == wants::nothing) {
    at.body.after();
  } else if constexpr (Body::needs == wants::loss) {
    return at.body.after(here.loss());
  } else if constexpr (Body::needs == wants::step) {
    if (at.body.after(here.step)) here.stopped = true;
  } else if (at.trigger.due(here.step)) {
    at.trigger.acted(here.step);
    return at.body.after(here.loss());
  }
  return true;
}

}  // namespace overhead
