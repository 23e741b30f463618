// SPDX-License-Identifier: BSL-1.0
#pragma once

// The steps that hooks are put around: what a training step computes, and its state. Nothing here knows of hooks.
//
// A step has a model, an input with its source, `values` (what the forward pass leaves behind), and four functions:
// forward, loss, descend, and each, which shows every number of the model.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace overhead {

/// Keeps the compiler from knowing a number: a loop whose length or period it knew would be another loop.
template <class Number>
[[gnu::always_inline]] inline Number opaque(Number number) {
  asm volatile("" : "+r"(number));
  return number;
}

/// A linear congruential generator: numbers from 0 inclusive to 1 exclusive.
struct random_numbers {
  std::uint32_t state = 1;
  [[gnu::always_inline]] float next() {
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8) * (1.0F / 16777216.0F);
  }
};

/// A few ns: a line fitted by stochastic gradient descent. All of it is inlined into the loop.
struct tiny {
  static constexpr char const* name = "tiny";
  static constexpr std::int64_t granule = 1000;  ///< steps are counted in multiples of it
  static constexpr bool reaches_trigger = true;  ///< within a few granules

  /// Two types, so that no vectoriser pairs them: whether it does depends on its mood, not on the hooks.
  struct model {
    float slope = 0;
    double offset = 0;
  };
  using input = float;
  using values = float;  // the error
  struct source {
    random_numbers numbers;
    std::int64_t left;
    [[gnu::always_inline]] bool next(float& x) {
      if (left == 0) return false;
      --left;
      x = numbers.next();
      return true;
    }
  };

  static model initial() { return {}; }
  static source input_of(std::int64_t steps) { return {{}, steps}; }
  [[gnu::always_inline]] static void forward(float& error, model const& line, float x) {
    error = line.slope * x + static_cast<float>(line.offset) - (2.0F * x + 1.0F);
  }
  [[gnu::always_inline]] static float loss(float error, float) { return error * error; }
  [[gnu::always_inline]] static void descend(model& line, float x, float error) {
    line.slope -= 0.1F * error * x;
    line.offset -= 0.1 * static_cast<double>(error);
  }
  template <class See>
  static void each(model const& line, See see) {
    see(line.slope), see(line.offset);
  }
};

/// Somewhat below 1 µs: a dense layer of 32 inputs and 16 outputs that learns to be another one. Its parts are
/// functions of their own, so that every loop calls the same code.
struct dense {
  static constexpr char const* name = "dense";
  static constexpr std::int64_t granule = 1000;
  static constexpr bool reaches_trigger = true;
  static constexpr std::size_t inputs = 32;
  static constexpr std::size_t outputs = 16;

  struct model {
    std::array<std::array<float, outputs>, inputs> weights{};
    std::array<float, outputs> bias{};
  };
  using input = std::array<float, inputs>;
  using values = std::array<float, outputs>;  // the errors
  struct source {
    random_numbers numbers;
    std::int64_t left;
    [[gnu::noinline]] void fill(input& x) {
      for (float& number : x) number = numbers.next() - 0.5F;
    }
    bool next(input& x) {
      if (left == 0) return false;
      --left;
      fill(x);
      return true;
    }
  };

  static model initial() { return {}; }
  static source input_of(std::int64_t steps) { return {{}, steps}; }
  [[gnu::noinline]] static void forward(values& error, model const& layer, input const& x) {
    error = layer.bias;
    for (std::size_t i = 0; i < inputs; ++i) {
      for (std::size_t o = 0; o < outputs; ++o) error[o] += x[i] * layer.weights[i][o];
    }
    for (std::size_t o = 0; o < outputs; ++o) error[o] -= x[o] - x[o + outputs];
  }
  [[gnu::noinline]] static float loss(values const& error, input const&) {
    float sum = 0;
    for (float one : error) sum += one * one;
    return sum;
  }
  [[gnu::noinline]] static void descend(model& layer, input const& x, values const& error) {
    for (std::size_t i = 0; i < inputs; ++i) {
      for (std::size_t o = 0; o < outputs; ++o) layer.weights[i][o] -= 0.05F * x[i] * error[o];
    }
    for (std::size_t o = 0; o < outputs; ++o) layer.bias[o] -= 0.05F * error[o];
  }
  template <class See>
  static void each(model const& layer, See see) {
    for (auto const& row : layer.weights) {
      for (float weight : row) see(weight);
    }
    for (float bias : layer.bias) see(bias);
  }
};

}  // namespace overhead
