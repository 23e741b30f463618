// SPDX-License-Identifier: BSL-1.0
#pragma once

// By hand: the statements of all hooks stand in the body of the loop.

#include <utility>

#include "training.hpp"

namespace overhead {

template <std::size_t Index, class Body>
struct standing_at : standing<Body> {
  using standing<Body>::standing;
};

template <class Step, kind Kind, class Indices>
struct hand_loop;

template <class Step, kind Kind, std::size_t... Index>
struct hand_loop<Step, Kind, std::index_sequence<Index...>> : training<Step, reads_each_loss(Kind)>,
                                                              standing_at<Index, body_at<Kind, Index>>... {
  using base = training<Step, reads_each_loss(Kind)>;
  bool failed = false;

  explicit hand_loop(std::int64_t steps) : base(steps), standing_at<Index, body_at<Kind, Index>>(steps)... {}

  template <std::size_t At>
  [[gnu::always_inline]] auto& at() {
    return static_cast<standing_at<At, body_at<Kind, At>>&>(*this);
  }
  template <std::size_t At>
  [[gnu::always_inline]] void before() {
    if constexpr (looks_before<body_at<Kind, At>>) at<At>().body.before();
  }
  /// One round of the loop. @return false if it is over
  [[gnu::always_inline]] bool round() {
    (before<Index>(), ...);
    if (!base::run()) return false;
    if (!(true && ... && act(at<Index>(), static_cast<base&>(*this)))) {
      failed = true;
      return false;
    }
    return true;
  }
  void tell(record& into) {
    overhead::tell<Step>(into, this->model, this->step);
    (at<Index>().body.each([&](auto number) { into.add(number); }), ...);
  }
};

/// The reference of all bounds: the state is in an object that outlives the loop, and somebody outside may ask for a
/// stop.
struct hand {
  static constexpr char const* name = "hand";

  template <class Loop>
  [[gnu::noinline]] static void drive(Loop& loop) {
    while (!loop.is_stopped() && loop.round()) {
    }
  }
  template <class Step, kind Kind, std::size_t Hooks>
  static void run(probe& seen, record& into, std::int64_t steps) {
    hand_loop<Step, Kind, std::make_index_sequence<Hooks>> loop(steps);
    seen.start();
    drive(loop);
    seen.stop();
    loop.tell(into);
  }
};

/// All state in local variables: no loop that others may look at while it runs can promise that.
struct hand_local {
  static constexpr char const* name = "hand_local";

  template <class Loop>
  [[gnu::noinline]] static Loop drive(Loop const& initial) {
    Loop loop = initial;
    while (!loop.stopped && loop.round()) {
    }
    return loop;
  }
  template <class Step, kind Kind, std::size_t Hooks>
  static void run(probe& seen, record& into, std::int64_t steps) {
    hand_loop<Step, Kind, std::make_index_sequence<Hooks>> const initial(steps);
    seen.start();
    auto done = drive(initial);
    seen.stop();
    done.tell(into);
  }
};

}  // namespace overhead
