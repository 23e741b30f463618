// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/core.hpp>
#include <tautline/sessions/tensorflow.hpp>
#include <tautline/sessions/tensorflow/ops.hpp>

#include "../scratch.hpp"
#include "files.hpp"

// A small training in TensorFlow whose values can be told in advance, and folders to save it to.

namespace tensorflow_test {

namespace fs = std::filesystem;
using namespace tautline;
using tautline::tensorflow::tensor;

using scratch_test::scratch;

using files::content;
using scratch_test::write;
/// The names of a folder in one line.
inline std::string names_in(std::string const& path) {
  std::vector<std::string> names;
  for (auto const& each : fs::directory_iterator(path)) names.push_back(each.path().filename().string());
  std::sort(names.begin(), names.end());
  std::string line;
  for (std::string const& name : names) line += (line.empty() ? "" : " ") + name;
  return line;
}
inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
using lines = std::vector<std::string>;

/// What else a graph has than `w`, a vector of two, of which each step takes a tenth of what it lacks to (1, 2).
struct extras {
  bool text = false;    ///< "words", two strings
  bool second = false;  ///< "v", three numbers
  std::int64_t length = 2;
};

/// "w" is 1 - 0.9^n and twice that after n steps; "global_step" is n, "loss" the sum of what lacks.
inline auto approaching(extras const& with = {}) {
  auto graph = tensorflow_graph<>{};
  auto ops = graph.ops();
  auto const w = ops.variable<float>("w", {with.length}, 0.0F);
  auto const step = ops.global_step();
  std::vector<float> goal;
  for (std::int64_t i = 0; i < with.length; ++i) goal.push_back(float(i + 1));
  auto const lacks = ops.sub(ops.constant(tautline::tensorflow::constant_value(goal, {with.length})), w, "lacks");
  ops.reduce_sum(lacks, "loss");
  auto const moved = ops.assign_add(w, ops.mul(lacks, ops.constant(0.1F)));
  auto const counted = ops.assign_add(step, ops.constant(std::int64_t{1}));
  ops.group({moved, counted}, "train");
  // to break things from outside
  ops.assign(w, ops.placeholder<float>("w_given"), "give_w");
  if (with.second) ops.variable<float>("v", {3}, 7.0F);
  if (with.text) ops.variable<std::string_view>("words", {2}, tautline::tensorflow::constant_value(std::vector<std::string>{"as they", "were"}));
  return std::move(graph)
      .value<"w", tensor<float, 1>>()
      .value<"loss", float>()
      .value<"global_step", std::int64_t>()
      .step_target<"train">();
}

/// What `w` is after so many steps, in the arithmetic of the graph.
inline std::vector<float> w_after(step_number steps, std::size_t length = 2) {
  std::vector<float> w(length, 0.0F);
  for (step_number n = 0; n < steps; ++n) {
    for (std::size_t i = 0; i < length; ++i) w[i] += (float(i + 1) - w[i]) * 0.1F;
  }
  return w;
}
template <class Session>
std::vector<float> w_of(Session& session) {
  auto const found = session.run_without_hooks(fetch<"w">);
  auto const& w = found[fetch<"w">];
  return {w.begin(), w.end()};
}

/// A hook with a state: how many runs it has seen in its life.
struct counter {
  std::int64_t seen = 0;
  void begin(auto&) { seen = 0; }
  void after_run(auto&) { ++seen; }
  auto state() { return fields{field<"seen">(seen)}; }
};

/// A hook that shows its test the training's state, after the next run.
struct peek {
  static constexpr bool stateless = true;
  std::function<void(training_state const&)> act{};
  void after_run(auto& ctx) {
    if (auto const once = std::exchange(act, {})) once(ctx.session().state());
  }
};
/// One more step, and a look at the state after it.
template <class Session, class Act>
void step_and(Session& session, Act act) {
  session.template hook<peek>().act = act;
  (void)session.run_steps(1, target<"train">);
}

/// The words of the error that ends it; empty if there is none.
template <class Make>
std::string error_of(Make make) {
  try {
    make();
    return {};
  } catch (std::exception const& failed) {
    return failed.what();
  }
}

}  // namespace tensorflow_test
