// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <utility>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>
#include <tautline/sessions/step_function.hpp>

// What most of these files need: names without a qualifier, a graph, a clock, and a hook that is right.

using namespace tautline;

inline auto toy_graph() {
  return static_graph{}
      .variable<"w">(0.0f)
      .placeholder<"rate">(0.1f)
      .source<"x">(0.0f, [left = 10](float& x) mutable { return x = 1, left-- > 0; })
      .op<"loss", "w", "x">([](float w, float x) { return (w - x) * (w - x); })
      .update<"train", "w", "x", "rate">([](float& w, float x, float rate) { w -= rate * (w - x); });
}

struct toy_clock {
  long ticks = 0;
  long now() { return ++ticks; }
  static long ticks_per_second() { return 1000; }
};

struct good_hook {
  void close() {}
};
