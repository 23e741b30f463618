// SPDX-License-Identifier: BSL-1.0
#pragma once

// About 100 µs: a step of the network of examples/digits, by its own kernels, on a batch of 32 pictures.

#include <optional>
#include <string>

#include "../../examples/digits/model.hpp"

namespace overhead {

struct digits_step {
  static constexpr char const* name = "digits";
  static constexpr std::int64_t granule = 10;
  static constexpr bool reaches_trigger = false;  // 1000 steps are 100 ms

  struct model {
    digits::hidden_weights first{};
    digits::hidden_bias first_bias{};
    digits::output_weights second{};
    digits::output_bias second_bias{};
  };
  using input = digits::batch;
  struct values {
    std::array<digits::hidden_bias, digits::batch_rows> hidden{};
    std::array<digits::output_bias, digits::batch_rows> probabilities{};
  };
  struct source {
    digits::shuffled_batches batches;
    std::int64_t left;
    [[gnu::noinline]] bool next(input& x) {
      if (left == 0) return false;
      --left;
      return batches(x);
    }
  };

  static inline std::string file;  ///< of the pictures
  static digits::pictures const& pictures() {
    static digits::pictures const read = digits::read_csv(file);
    return read;
  }
  static model initial() {
    digits::random_source random{7};
    model made;
    made.first = digits::initial_weights<digits::pixels, digits::hidden_units>(random);
    made.second = digits::initial_weights<digits::hidden_units, digits::classes>(random);
    return made;
  }
  static source input_of(std::int64_t steps) { return {digits::shuffled_batches(pictures().train, 0, 5), steps}; }

  [[gnu::noinline]] static void forward(values& out, model const& net, input const& in) {
    for (std::size_t row = 0; row < in.size; ++row) {
      digits::affine(out.hidden[row], in.rows[row]->ink, net.first, net.first_bias);
      digits::relu(out.hidden[row]);
      digits::affine(out.probabilities[row], out.hidden[row], net.second, net.second_bias);
      digits::softmax(out.probabilities[row]);
    }
  }
  [[gnu::noinline]] static float loss(values const& out, input const& in) {
    float sum = 0;
    for (std::size_t row = 0; row < in.size; ++row) {
      sum += digits::cross_entropy(out.probabilities[row], in.rows[row]->digit);
    }
    return sum / static_cast<float>(in.size);
  }
  [[gnu::noinline]] static void descend(model& net, input const& in, values const& out) {
    std::array<digits::hidden_bias, digits::batch_rows> back;
    auto error = out.probabilities;
    for (std::size_t row = 0; row < in.size; ++row) {
      error[row][in.rows[row]->digit] -= 1;
      digits::back_through_relu(back[row], out.hidden[row], net.second, error[row]);
    }
    float const scaled = 0.1F / static_cast<float>(in.size);
    for (std::size_t row = 0; row < in.size; ++row) {
      digits::descend(net.second, net.second_bias, out.hidden[row], error[row], scaled);
      digits::descend(net.first, net.first_bias, in.rows[row]->ink, back[row], scaled);
    }
  }
  template <class See>
  static void each(model const& net, See see) {
    for (auto const& row : net.first) {
      for (float weight : row) see(weight);
    }
    for (float bias : net.first_bias) see(bias);
    for (auto const& row : net.second) {
      for (float weight : row) see(weight);
    }
    for (float bias : net.second_bias) see(bias);
  }
};

}  // namespace overhead
