// SPDX-License-Identifier: BSL-1.0
#pragma once

// The model of the programs here: a line fitted by stochastic gradient descent, a step of which is so short that every
// instruction of a hook shows.

#include <cstdint>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

namespace {  // of each program

using tautline::step_number;

struct random_points {
  std::uint32_t state = 1;
  step_number left;

  bool next(float& x) {
    if (left == 0) return false;
    --left;
    state = state * 1664525U + 1013904223U;
    x = static_cast<float>(state >> 8) * (1.0F / 16777216.0F);
    return true;
  }
};

/// Two types, so that no vectoriser pairs them: whether it does depends on its mood, not on the hooks.
struct line {
  float slope = 0;
  double offset = 0;
  auto state() { return tautline::fields{tautline::field<"slope">(slope), tautline::field<"offset">(offset)}; }
};

inline float error_of(line const& model, float x) {
  return model.slope * x + static_cast<float>(model.offset) - (2.0F * x + 1.0F);
}
template <double Rate = 0.1>
void descend(line& model, float x, float error) {
  model.slope -= static_cast<float>(Rate) * error * x;
  model.offset -= Rate * static_cast<double>(error);
}

/// @param points the source of `x`
template <double Rate = 0.1, class Points>
auto make_graph_over(Points points) {
  return tautline::static_graph{}
      .variable<"model">(line{})
      .template source<"x">(0.0F, points)
      .template op<"error", "model", "x">([](line const& model, float x) { return error_of(model, x); })
      .template op<"loss", "error">([](float error) { return error * error; })
      .template update<"train", "model", "x", "error">([](line& model, float x, float error) { descend<Rate>(model, x, error); });
}
template <double Rate = 0.1>
auto make_graph(step_number steps) {
  return make_graph_over<Rate>([points = random_points{1, steps}](float& x) mutable { return points.next(x); });
}

inline bool is_finite(float value) { return value - value == 0; }

// --- by hand --------------------------------------------------------------------------------------------------------

/// The same members in the same order as the graph has them.
struct hand {
  line model;
  float x = 0;
  random_points points;
  float error = 0;
  float loss = 0;
  step_number step = 0;
  bool stopped = false;

  [[gnu::noinline]] void run() {
    while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
      if (!points.next(x)) {
        stopped = true;
        break;
      }
      error = error_of(model, x);
      descend(model, x, error);
      ++step;
    }
  }
};

}  // namespace
