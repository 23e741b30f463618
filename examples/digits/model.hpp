// SPDX-License-Identifier: BSL-1.0
#pragma once

// The network as a static graph: four variables, an input of shuffled batches, the forward pass as ops, and the training
// step as an update.

#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <tautline/sessions/static_graph.hpp>

#include "kernels.hpp"

namespace digits {

inline constexpr std::size_t hidden_units = 32;
inline constexpr std::size_t batch_rows = 32;

/// Pointers to the rows of a batch; the last one of an epoch may be smaller.
struct batch {
  std::array<example const*, batch_rows> rows{};
  std::size_t size = 0;
};

/// All rows in their order, in batches.
inline std::vector<batch> in_batches(std::span<example const> rows) {
  std::vector<batch> made((rows.size() + batch_rows - 1) / batch_rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    batch& last = made[i / batch_rows];
    last.rows[last.size++] = &rows[i];
  }
  return made;
}

/// The input: each epoch shows every row once, in a new order.
class shuffled_batches {
 public:
  /// @param epochs after which the input ends; 0 is endless
  shuffled_batches(std::span<example const> rows, std::int64_t epochs, std::uint64_t seed)
      : rows_(rows), order_(rows.size()), epochs_(epochs), random_{seed} {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    next_ = order_.size();
  }

  bool operator()(batch& out) {
    if (next_ == order_.size()) {
      if (epochs_ != 0 && epoch_ == epochs_) return false;
      ++epoch_;
      next_ = 0;
      for (std::size_t left = order_.size(); left > 1; --left) std::swap(order_[left - 1], order_[random_.below(left)]);
    }
    for (out.size = 0; out.size < batch_rows && next_ < order_.size(); ++next_) {
      out.rows[out.size++] = &rows_[order_[next_]];
    }
    return true;
  }

  /// Where the input stands: a training that is resumed sees the batches that it would have seen.
  auto state() {
    using namespace tautline;
    return fields{field<"order">(order_), field<"next">(next_), field<"epoch">(epoch_), field<"random">(random_.state)};
  }

 private:
  std::span<example const> rows_;
  std::vector<std::size_t> order_;
  std::int64_t epochs_;
  std::int64_t epoch_ = 0;
  std::size_t next_ = 0;
  random_source random_;
};

using hidden_weights = matrix_of<pixels, hidden_units>;
using hidden_bias = vector_of<hidden_units>;
using output_weights = matrix_of<hidden_units, classes>;
using output_bias = vector_of<classes>;

/// The graph. The rows must live as long as it does.
///
/// Names: variables `hidden/weights`, `hidden/bias`, `output/weights`, `output/bias`; placeholder `rate`; source
/// `batch`; ops `hidden`, `probabilities`, `loss` (mean over the batch, nats), `accuracy` (share of right answers in the
/// batch); update `train`. To look at other rows, feed `batch`.
inline auto make_graph(std::span<example const> rows, std::int64_t epochs, std::uint64_t seed, float rate) {
  random_source random{seed};
  auto const first = initial_weights<pixels, hidden_units>(random);
  auto const second = initial_weights<hidden_units, classes>(random);

  return tautline::static_graph{}
      .variable<"hidden/weights">(first)
      .variable<"hidden/bias">(hidden_bias{})
      .variable<"output/weights">(second)
      .variable<"output/bias">(output_bias{})
      .placeholder<"rate">(rate)
      .source<"batch">(batch{}, shuffled_batches(rows, epochs, random.next()))

      // the forward pass
      .op<"hidden", "batch", "hidden/weights", "hidden/bias">(
          std::array<hidden_bias, batch_rows>{},
          [](auto& hidden, batch const& in, hidden_weights const& weights, hidden_bias const& bias) {
            for (std::size_t row = 0; row < in.size; ++row) {
              affine(hidden[row], in.rows[row]->ink, weights, bias);
              relu(hidden[row]);
            }
          })
      .op<"probabilities", "batch", "hidden", "output/weights", "output/bias">(
          std::array<output_bias, batch_rows>{},
          [](auto& out, batch const& in, auto const& hidden, output_weights const& weights, output_bias const& bias) {
            for (std::size_t row = 0; row < in.size; ++row) {
              affine(out[row], hidden[row], weights, bias);
              softmax(out[row]);
            }
          })
      .op<"loss", "batch", "probabilities">([](batch const& in, auto const& probabilities) {
        float sum = 0;
        for (std::size_t row = 0; row < in.size; ++row) sum += cross_entropy(probabilities[row], in.rows[row]->digit);
        return sum / static_cast<float>(in.size);
      })
      .op<"accuracy", "batch", "probabilities">([](batch const& in, auto const& probabilities) {
        int right = 0;
        for (std::size_t row = 0; row < in.size; ++row) right += likeliest(probabilities[row]) == in.rows[row]->digit;
        return static_cast<float>(right) / static_cast<float>(in.size);
      })

      // backward pass and gradient descent: the error of softmax with cross-entropy is `probabilities - truth`
      .update<"train", "hidden/weights", "hidden/bias", "output/weights", "output/bias", "batch", "hidden",
              "probabilities", "rate">([](hidden_weights& w1, hidden_bias& b1, output_weights& w2, output_bias& b2,
                                          batch const& in, auto const& hidden, auto const& probabilities, float step) {
        std::array<hidden_bias, batch_rows> back;  // all errors first: the gradient is that of the old weights
        std::array<output_bias, batch_rows> error = probabilities;
        for (std::size_t row = 0; row < in.size; ++row) {
          error[row][in.rows[row]->digit] -= 1;
          back_through_relu(back[row], hidden[row], w2, error[row]);
        }
        float const scaled = step / static_cast<float>(in.size);
        for (std::size_t row = 0; row < in.size; ++row) {
          descend(w2, b2, hidden[row], error[row], scaled);
          descend(w1, b1, in.rows[row]->ink, back[row], scaled);
        }
      });
}

}  // namespace digits
