// SPDX-License-Identifier: BSL-1.0
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <fstream>
#include <memory>

#include "bare_session.hpp"

// What ops.py compares with Python: graphs, their losses and values step by step, checkpoints.
// It writes to the folder TAUTLINE_OPS_FOLDER, and reads the checkpoint `python` there.

using namespace bare;

namespace {

void write(std::string const& path, void const* data, std::size_t bytes) {
  std::ofstream(path, std::ios::binary).write(static_cast<char const*>(data), std::streamsize(bytes));
}
void write(std::string const& path, vec const& values) { write(path, values.data(), values.size() * sizeof(float)); }

void write_graph(built& g, std::string const& path) {
  std::unique_ptr<TF_Buffer, void (*)(TF_Buffer*)> const bytes(TF_NewBuffer(), TF_DeleteBuffer);
  detail::call_status status;
  TF_GraphToGraphDef(g.graph, bytes.get(), status.get());
  write(path, bytes->data, bytes->length);
}

/// Initial values by seeds, for ops and for variables.
void write_random(std::string const& folder, std::string const& name, std::optional<std::int64_t> seed) {
  built g;
  auto& ops = g.ops;
  if (seed) ops.set_random_seed(*seed);
  auto const a = ops.variable<float>("a", {5, 3}, random_normal{.mean = 0.5, .stddev = 0.1, .seed = 3});
  auto const b = ops.variable<float>("b", {5, 3}, truncated_normal{.stddev = 0.3, .seed = 4});
  auto const c = ops.variable<float>("c", {5, 3}, random_uniform{.minval = -2, .maxval = 0.3, .seed = 5});
  auto const d = ops.variable<float>("d", {5, 3}, glorot_uniform{.seed = 6});
  auto const e = ops.variable<float>("e", {3, 3, 2, 4}, glorot_uniform{.seed = 7});
  auto const f = ops.variable<float>("f", {7}, glorot_uniform{.seed = 8});
  auto const i = ops.cast<float>(ops.random_uniform<std::int32_t>({9}, {.minval = 0, .maxval = 1000, .seed = 9}), "i");
  auto const h = ops.random_normal({4}, {.seed = -1}, "h");
  g.make(ops.init());
  auto const order = ops.cast<float>(ops.range(20).shuffle(7, 10).repeat(2).batch(40).iterator()[0]);
  g.make(ops.local_init());
  vec all;
  for (auto const& found : g.run({a, b, c, d, e, f, i, h, order})) all.insert(all.end(), found.begin(), found.end());
  write(folder + "/random_" + name, all);
}

/// Twenty steps of a small network; its graph, its losses, its checkpoint.
template <class Optimizer>
void write_training(std::string const& folder, std::string const& name, Optimizer const& how) {
  built g;
  auto& ops = g.ops;
  ops.set_random_seed(11);
  auto const x = ops.placeholder<float>("x", {-1, 6});
  auto const label = ops.placeholder<std::int32_t>("label", {-1});
  auto const w1 = ops.variable<float>("w1", {6, 8}, random_normal{.stddev = 0.4, .seed = 1});
  auto const b1 = ops.variable<float>("b1", {8}, 0);
  auto const w2 = ops.variable<float>("w2", {8, 3}, glorot_uniform{.seed = 2});
  auto const b2 = ops.variable<float>("b2", {3}, 0);
  auto const hidden = ops.tanh(ops.matmul(x, w1) + b1, "hidden");
  auto const logits = ops.bias_add(ops.matmul(hidden, w2), b2, "logits");
  auto const losses = ops.sparse_softmax_cross_entropy_with_logits(label, logits);
  auto const loss = ops.add(ops.reduce_mean(losses), 0.01 * ops.l2_loss(w1), "loss");
  auto const train = ops.minimize(loss, how, ops.global_step());
  auto const saver = ops.saver();
  g.make(ops.init());
  vec data;
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 60; ++i) data.push_back(float(i * 7 % 13) / 8 - 0.5f);
  for (int i = 0; i < 10; ++i) labels.push_back(i * 5 % 3);
  std::vector<built::fed> const fed{{x, constant_value(data, {10, 6})}, {label, labels}};
  vec found;
  for (int i = 0; i < 20; ++i) {
    found.push_back(g.run({loss}, fed, {train}).at(0).at(0));
    REQUIRE_MESSAGE(g.code == TF_OK, g.message);
  }
  write(folder + "/losses_" + name, found);
  write_graph(g, folder + "/graph_" + name);
  g.run({}, {{saver.filename, folder + "/checkpoint_" + name}}, {saver.save});
  REQUIRE_MESSAGE(g.code == TF_OK, g.message);
}

/// Reads what Python's Saver wrote.
void read_checkpoint(std::string const& folder) {
  built g;
  auto const w = g.ops.variable<float>("w", {2, 2}, 0);
  auto const step = g.ops.global_step();
  auto const saver = g.ops.saver();
  g.run({}, {{saver.filename, folder + "/python"}}, {saver.restore});
  REQUIRE_MESSAGE(g.code == TF_OK, g.message);
  CHECK(g.value(w) == vec{1, 2, 3, 4});
  CHECK(g.value<std::int64_t>(step) == std::vector<std::int64_t>{42});
}

}  // namespace

TEST_CASE("everything is written, and what Python wrote is read") {
  char const* const given = std::getenv("TAUTLINE_OPS_FOLDER");
  REQUIRE(given != nullptr);
  std::string const folder = given;
  write_random(folder, "both", 7);
  write_random(folder, "own", {});
  write_training(folder, "sgd", sgd{0.5});
  write_training(folder, "momentum", momentum{0.1, 0.9});
  write_training(folder, "nesterov", momentum{0.1, 0.9, true});
  write_training(folder, "adam", adam{0.01});
  read_checkpoint(folder);
}
