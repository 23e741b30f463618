// SPDX-License-Identifier: BSL-1.0
#pragma once

// The arithmetic of a network with one hidden layer, over plain arrays. Nothing here knows of tautline.
//
// Every sum runs in a fixed order, so a build without contraction (-ffp-contract=off) gives the same bits everywhere
// where exp and log do.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "data.hpp"

namespace digits {

template <std::size_t Size>
using vector_of = std::array<float, Size>;
template <std::size_t Rows, std::size_t Columns>
using matrix_of = std::array<std::array<float, Columns>, Rows>;

/// A small generator with a state of one word (splitmix64): the same numbers on every platform, which the
/// distributions of the standard library do not promise.
struct random_source {
  std::uint64_t state;

  std::uint64_t next() {
    std::uint64_t mixed = state += 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31);
  }
  /// From 0 to `count - 1`. @param count small against 2^64, so that the bias does not matter
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }
  /// From 0 inclusive to 1 exclusive.
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24F; }
};

/// Weights for a layer with ReLU behind it: uniform, with variance 2 / inputs (He et al. 2015).
template <std::size_t In, std::size_t Out>
matrix_of<In, Out> initial_weights(random_source& random) {
  float const bound = std::sqrt(6.0F / static_cast<float>(In));
  matrix_of<In, Out> weights{};
  for (auto& row : weights) {
    for (float& weight : row) weight = (2 * random.uniform() - 1) * bound;
  }
  return weights;
}

/// `out = in · weights + bias`
template <std::size_t In, std::size_t Out>
void affine(vector_of<Out>& out, vector_of<In> const& in, matrix_of<In, Out> const& weights,
            vector_of<Out> const& bias) {
  out = bias;
  for (std::size_t i = 0; i < In; ++i) {
    for (std::size_t o = 0; o < Out; ++o) out[o] += in[i] * weights[i][o];
  }
}

template <std::size_t Size>
void relu(vector_of<Size>& values) {
  for (float& value : values) value = value < 0 ? 0 : value;  // keeps a NaN, which std::max would not
}

/// Turns scores into probabilities.
template <std::size_t Size>
void softmax(vector_of<Size>& values) {
  float const top = *std::max_element(values.begin(), values.end());
  float sum = 0;
  for (float& value : values) sum += value = std::exp(value - top);
  for (float& value : values) value /= sum;
}

/// The negative logarithm of what the right class got, in nats. Bounded by about 87, and NaN stays NaN.
template <std::size_t Size>
float cross_entropy(vector_of<Size> const& probabilities, std::size_t right) {
  float const given = probabilities[right];
  return -std::log(given < 1e-38F ? 1e-38F : given);
}

template <std::size_t Size>
std::size_t likeliest(vector_of<Size> const& probabilities) {
  return static_cast<std::size_t>(std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin());
}

/// One SGD step for a layer, with the error at its output: `weights -= rate · inᵀ · error`.
template <std::size_t In, std::size_t Out>
void descend(matrix_of<In, Out>& weights, vector_of<Out>& bias, vector_of<In> const& in, vector_of<Out> const& error,
             float rate) {
  for (std::size_t i = 0; i < In; ++i) {
    for (std::size_t o = 0; o < Out; ++o) weights[i][o] -= rate * in[i] * error[o];
  }
  for (std::size_t o = 0; o < Out; ++o) bias[o] -= rate * error[o];
}

/// The error at a layer's output, taken back to the output of the ReLU before it.
template <std::size_t In, std::size_t Out>
void back_through_relu(vector_of<In>& back, vector_of<In> const& activated, matrix_of<In, Out> const& weights,
                       vector_of<Out> const& error) {
  for (std::size_t i = 0; i < In; ++i) {
    float sum = 0;
    for (std::size_t o = 0; o < Out; ++o) sum += weights[i][o] * error[o];
    back[i] = activated[i] > 0 ? sum : 0;
  }
}

}  // namespace digits
