// SPDX-License-Identifier: BSL-1.0
//
// A small network that learns to calibrate a sensor: two inputs, eight hidden units, one output; stochastic gradient
// descent, one measurement a step, in float. Plain functions over plain arrays, and the graph that puts them together.

#pragma once

#include <array>
#include <cstdint>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

namespace mlp {

inline constexpr std::size_t units = 8;
using hidden_weights = std::array<float, 3 * units>;  // of each unit: for the two inputs, and what is added
using output_weights = std::array<float, units + 1>;
using activation = std::array<float, units>;

struct measurement {
  float x, y, wanted;
};

/// The sensor: two inputs in [-1, 1), and their product, which is to be learned. Now and then it is not plugged in.
class sensor {
 public:
  bool next(measurement& seen) {
    seen.x = uniform();
    seen.y = uniform();
    seen.wanted = seen.x * seen.y;
    if (++taken_ % 97 == 0) seen.wanted = __builtin_nanf("");
    return true;
  }
  bool operator()(measurement& seen) { return next(seen); }
  /// Where the input stands is a part of a checkpoint.
  auto state() { return tautline::fields{tautline::field<"taken">(taken_), tautline::field<"random">(random_)}; }

 private:
  float uniform() {
    random_ = random_ * 1664525U + 1013904223U;
    return static_cast<float>(static_cast<std::int32_t>(random_)) * (1.0F / 2147483648.0F);
  }
  std::uint32_t taken_ = 0;
  std::uint32_t random_ = 1;
};

/// Small, and not the same for any two units.
constexpr hidden_weights first_hidden() {
  hidden_weights made{};
  std::uint32_t random = 12345;
  for (float& each : made) {
    random = random * 1664525U + 1013904223U;
    each = static_cast<float>(static_cast<std::int32_t>(random)) * (1.0F / 2147483648.0F);
  }
  return made;
}
constexpr output_weights first_output() {
  output_weights made{};
  for (std::size_t unit = 0; unit < units; ++unit) made[unit] = unit % 2 == 0 ? 0.25F : -0.25F;
  return made;
}

inline void activate(activation& units_out, hidden_weights const& hidden, measurement const& seen) {
  for (std::size_t unit = 0; unit < units; ++unit) {
    float const sum = hidden[3 * unit] * seen.x + hidden[3 * unit + 1] * seen.y + hidden[3 * unit + 2];
    units_out[unit] = sum > 0 ? sum : 0.1F * sum;
  }
}
inline float error_of(output_weights const& output, activation const& active, measurement const& seen) {
  float sum = output[units];
  for (std::size_t unit = 0; unit < units; ++unit) sum += output[unit] * active[unit];
  return sum - seen.wanted;
}
inline float loss_of(float error) { return 0.5F * error * error; }
inline void descend(hidden_weights& hidden, output_weights& output, measurement const& seen, activation const& active,
                    float error) {
  constexpr float rate = 0.05F;
  float const step = rate * error;
  for (std::size_t unit = 0; unit < units; ++unit) {
    float const back = step * output[unit] * (active[unit] > 0 ? 1.0F : 0.1F);
    output[unit] -= step * active[unit];
    hidden[3 * unit] -= back * seen.x;
    hidden[3 * unit + 1] -= back * seen.y;
    hidden[3 * unit + 2] -= back;
  }
  output[units] -= step;
}

/// "train" makes a step, "loss" is what was left to learn before it. Lambdas, not the functions themselves: those would be
/// kept and called by their addresses.
inline auto make_graph() {
  return tautline::static_graph{}
      .variable<"hidden">(first_hidden())
      .variable<"output">(first_output())
      .source<"sample">(measurement{}, sensor{})
      .op<"active", "hidden", "sample">(activation{}, [](activation& active, hidden_weights const& hidden,
                                                         measurement const& seen) { activate(active, hidden, seen); })
      .op<"error", "output", "active", "sample">(
          [](output_weights const& output, activation const& active, measurement const& seen) {
            return error_of(output, active, seen);
          })
      .op<"loss", "error">([](float error) { return loss_of(error); })
      .update<"train", "hidden", "output", "sample", "active", "error">(
          [](hidden_weights& hidden, output_weights& output, measurement const& seen, activation const& active, float error) {
            descend(hidden, output, seen, active, error);
          });
}

}  // namespace mlp
