// SPDX-License-Identifier: BSL-1.0
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tautline/core.hpp>
#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/sessions/tensorflow.hpp>
#include <tautline/sessions/tensorflow/ops.hpp>

// Graphs that are built in C++, as a whole or in part, in a monitored session.

using namespace tautline;
using tautline::tensorflow::tensor;

namespace {

/// y = 2 x + 1 of four points, `epochs` times.
void build_line(tensorflow::scope ops, std::int64_t epochs) {
  auto const x = ops.constant<float>({1, 2, 3, 4}, {4, 1});
  auto const input = ops.tensor_slices({x, 2 * x + 1}).repeat(epochs).batch(4).iterator();
  auto const w = ops.variable<float>("w", {1, 1}, 0);
  auto const b = ops.variable<float>("b", {1}, 0);
  auto const loss = ops.reduce_mean(ops.square(ops.matmul(input[0], w) + b - input[1]), "loss");
  ops.minimize(loss, tensorflow::sgd{0.1}, ops.global_step(), "train");
}

std::string bytes_of(tensorflow_graph<>& graph) {
  tensorflow::buffer_handle const bytes(TF_NewBuffer());
  auto const status = tensorflow::new_status();
  TF_GraphToGraphDef(graph.handle(), bytes.get(), status.get());
  return {static_cast<char const*>(bytes->data), bytes->length};
}

}  // namespace

TEST_CASE("a graph built in C++ trains until its input ends, and knows its steps") {
  tensorflow_graph graph;
  build_line(graph.ops(), 60);
  REQUIRE_MESSAGE(graph.status().ok(), std::string(graph.status().message));
  auto session = monitored(
      std::move(graph).value<"loss", float>().value<"w", tensor<float, 2>>().value<"global_step", std::int64_t>(),
      nan_checker<"loss">{}, stop_at_step{1000});
  float last = 0, w = 0;
  for (auto const& step : session.steps(target<"train">, fetch<"loss">, fetch<"w">)) {
    last = step[fetch<"loss">];
    w = step[fetch<"w">][0];
  }
  CHECK(last < 1e-3f);
  CHECK(w == doctest::Approx(2).epsilon(0.05));
  CHECK(session.stop().step == 61);  // the run that found no more input
}

TEST_CASE("all scopes of a graph build the same one") {
  tensorflow_graph graph;
  auto const x = graph.ops().constant(2.f, "x");
  graph.ops().add(x, x, "sum");
  auto session = monitored(std::move(graph).value<"sum", float>());
  auto const result = session.run(fetch<"sum">);
  CHECK(result[fetch<"sum">] == 4);
}

TEST_CASE("a mistake in building is the graph's error at once, and the session's later") {
  tensorflow_graph graph;
  auto ops = graph.ops();
  ops.matmul(ops.zeros<float>({1, 2}), ops.zeros<float>({3, 1}), "product");
  CHECK(graph.status().kind == error_kind::invalid_argument);
  std::string message;
  try {
    auto session = monitored(std::move(graph).value<"product", tensor<float, 2>>());
  } catch (invalid_argument_error const& caught) {
    message = caught.what();
  }
  CHECK(message.find("node 'product' (MatMul)") != std::string::npos);
}

namespace {

/// Counts the steps in a variable of its own that it adds to the graph.
struct counter {
  std::vector<float>* seen;

  template <class Graph>
  void begin(Graph& graph) {
    auto ops = graph.ops();
    if (ops.find("tally")) return;  // this graph has been begun before
    auto const tally = ops.template variable<float>("tally", {}, 10, {.trainable = false});
    ops.identity(ops.control_dependencies({ops.assign_add(tally, ops.constant(1.f), "add_one")}).read(tally),
                 "counted");
  }
  auto before_run(auto&) { return fetch<"counted", float>; }
  void after_run(auto&, auto const& values) { seen->push_back(values[fetch<"counted">]); }
};

}  // namespace

TEST_CASE("what a hook builds in begin is initialised and saved, in a graph that was imported") {
  tensorflow_graph made;
  build_line(made.ops(), 5);
  SUBCASE("with an init op and a saver of its own") {
    (void)made.ops().init();
    (void)made.ops().local_init();
    (void)made.ops().saver();
  }
  SUBCASE("without") { (void)made.ops().local_init(); }
  auto graph = tensorflow_graph<>::from_graph_def_bytes(bytes_of(made));
  std::vector<float> seen;
  auto session = monitored(std::move(graph).value<"loss", float>(), counter{&seen});
  session.run_to_completion(target<"train">);
  CHECK(seen == std::vector<float>{11, 12, 13, 14, 15});
  auto again = monitored(std::move(made), counter{&seen});
  again.run_to_completion(target<"train">);
  CHECK(seen.size() == 10);
}

namespace {

/// The names of a graph after it has been finished.
struct finished {
  tensorflow::detail::graph_parts parts;
  tensorflow::detail::building notes{parts};
  tensorflow::scope ops{notes};

  tensorflow::scaffold const& finish() {
    ops.finish(parts);
    CHECK_MESSAGE(parts.first.ok(), std::string(parts.first.message));
    return parts.settings.scaffold;
  }
  [[nodiscard]] bool runs(std::string const& target, std::string const& node) const {
    auto* const from = TF_GraphOperationByName(parts.graph.get(), target.c_str());
    auto* const wanted = TF_GraphOperationByName(parts.graph.get(), node.c_str());
    REQUIRE(from != nullptr);
    REQUIRE(wanted != nullptr);
    return tensorflow::detail::nodes_run_by(from).contains(wanted);
  }
};

}  // namespace

TEST_CASE("an init op that was given keeps its say, and gets what it leaves out") {
  finished graph;
  auto const w = graph.ops.variable<float>("w", {}, 1);
  auto const v = graph.ops.variable<float>("v", {}, 1);
  graph.ops.group({graph.ops.assign(w, graph.ops.constant(5.f), "five")}, "mine");
  graph.parts.settings.scaffold.init_op = "mine";
  auto const& names = graph.finish();
  CHECK(names.init_op == "init");
  CHECK(graph.runs("init", "five"));
  CHECK(graph.runs("init", "v/Assign"));
  CHECK(!graph.runs("init", "w/Assign"));
}

TEST_CASE("one that leaves nothing out is taken as it is") {
  finished graph;
  graph.ops.variable<float>("w", {}, 1);
  (void)graph.ops.init();
  CHECK(graph.finish().init_op == "init");
  CHECK(!graph.ops.find("init_1"));
}

TEST_CASE("the local init op has local variables and inputs") {
  finished graph;
  graph.ops.variable<float>("l", {}, 1, {.local = true});
  auto const input = graph.ops.range(3).iterator();
  auto const& names = graph.finish();
  CHECK(names.local_init_op == "local_init");
  CHECK(graph.runs("local_init", "l/Assign"));
  CHECK(graph.runs("local_init", input.initializer().name()));
  CHECK(names.init_op.empty());
  CHECK(!graph.ops.find("save/restore_all"));
}

TEST_CASE("a saver that leaves variables out is followed by one that has them all") {
  finished graph;
  graph.ops.variable<float>("w", {}, 1);
  (void)graph.ops.saver();
  SUBCASE("nothing is left out") {
    graph.finish();
    CHECK(!graph.ops.find("save_1/restore_all"));
  }
  SUBCASE("a variable is") {
    graph.ops.variable<float>("v", {}, 1);
    auto const& names = graph.finish();
    CHECK(names.saver_restore == "save_1/restore_all");
    CHECK(names.saver_filename == "save_1/Const:0");
    CHECK(names.saver_save == "save_1/control_dependency:0");
    CHECK(TF_OperationNumInputs(graph.ops.find("save_1/SaveV2").handle()) == 3 + 2);
  }
}

TEST_CASE("a graph without variables is left as it is") {
  finished graph;
  graph.ops.constant(1.f);
  graph.finish();
  CHECK(!graph.ops.find("init"));
  CHECK(!graph.ops.find("save/restore_all"));
}
