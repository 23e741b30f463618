// SPDX-License-Identifier: BSL-1.0
//
// A network that learns to read digits, in TensorFlow, from C++: the graph is built here, hooks train it. The
// checkpoints are TensorFlow's own, so Python's tf.train.load_checkpoint reads them, and a second call resumes the
// training.

#include <cstdlib>
#include <fstream>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include <tautline/hooks.hpp>
#include <tautline/io/tensorflow_checkpoints.hpp>
#include <tautline/sessions/tensorflow.hpp>
#include <tautline/sessions/tensorflow/ops.hpp>

using namespace tautline;
using namespace tautline::tensorflow;

int main(int count, char** arguments) try {
  if (count != 4) throw std::runtime_error("usage: digits examples/data/digits.csv FOLDER LAST_STEP");
  std::vector<float> ink;  // 64 for a picture, from 0 to 1
  std::vector<std::int32_t> digit;
  std::ifstream file(arguments[1]);
  for (float value; file >> value; file.ignore()) {
    ink.size() == 64 * (digit.size() + 1) ? digit.push_back(int(value)) : ink.push_back(value / 16);
  }
  if (digit.size() != 1797) throw std::runtime_error(fmt::format("{} has not 1797 pictures", arguments[1]));

  tensorflow_graph graph;
  auto ops = graph.ops();
  auto const w1 = ops.variable<float>("w1", {64, 32}, glorot_uniform{.seed = 1}),
             b1 = ops.variable<float>("b1", {32}, 0);
  auto const w2 = ops.variable<float>("w2", {32, 10}, glorot_uniform{.seed = 2}),
             b2 = ops.variable<float>("b2", {10}, 0);
  auto const network = [&](output x) { return ops.matmul(ops.relu(ops.matmul(x, w1) + b1), w2) + b2; };
  auto const rows = [&](std::size_t from, std::size_t size) {
    return std::vector{ops.constant({std::span<float const>(ink).subspan(64 * from, 64 * size), {size, 64}}),
                       ops.constant({std::span<std::int32_t const>(digit).subspan(from, size), {size}})};
  };
  auto const input = ops.tensor_slices(rows(0, 1438)).shuffle(1438, 3).repeat().batch(32).iterator();
  auto const loss = ops.reduce_mean(ops.sparse_softmax_cross_entropy_with_logits(input[1], network(input[0])), "loss");
  ops.minimize(loss, sgd{0.1}, ops.global_step(), "train");
  auto const held_out = rows(1438, digit.size() - 1438);
  auto const read = ops.cast<std::int32_t>(ops.argmax(network(held_out[0]), 1));
  ops.reduce_mean(ops.cast<float>(ops.equal(read, held_out[1])), "accuracy");

  tensorflow_checkpoints saved{arguments[2], {.keep = 2}};
  logging const how{.log = [](std::string_view text) { fmt::print("{}\n", text); },
                    .format = [](auto const& at) { return fmt::format("step {:4}: {:.11}", at.step, at.values); }};
  auto session = monitored(std::move(graph).value<"loss", float>().value<"accuracy", float>(),
                           options{restore_from{saved}}, stop_at_step{std::atoi(arguments[3])}, nan_checker<"loss">{},
                           tensor_logger<"loss">{every_steps{300}, how},
                           checkpoint_saver{saved, every_steps{500} | at_end}, final_ops<"accuracy">{});
  fmt::print("from step {}\n", session.completed_steps());
  session.run_to_completion(target<"train">);
  session.close();
  fmt::print("{:.0f} of 100 digits that were held out are read\n",
             100 * session.hook<final_ops<"accuracy">>().get<"accuracy">());
} catch (std::exception const& problem) {
  fmt::print(stderr, "{}\n", problem.what());
  return 1;
}
