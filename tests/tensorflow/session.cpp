// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/core.hpp>
#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/sessions/tensorflow.hpp>
#include <tautline/sessions/tensorflow/ops.hpp>

#include "said.hpp"

using namespace tautline;
using tautline::tensorflow::bfloat16;
using tautline::tensorflow::half;
using tautline::tensorflow::tensor;
using said::message_of;
using said::starts_with;

namespace {

/// w += rate in each step; "loss" is w as the step found it.
auto counting_graph() {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  auto const w = ops.variable<float>("w", {}, 1.0F);
  auto const rate = ops.placeholder_with_default(ops.constant(1.0F), {}, "rate");
  auto const before = ops.identity(ops.read(w), "loss");
  auto const after = ops.control_dependencies({before});
  auto const train = after.assign_add(w, rate);
  ops.control_dependencies({train}).assign_add(ops.global_step(), ops.constant(std::int64_t{1}), "train");
  return std::move(graph).value<"loss", float>().step_target<"train">();
}

struct loss_reader {
  std::vector<float> seen{};
  std::vector<step_number> steps{};
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto& ctx, auto& values) {
    seen.push_back(values[fetch<"loss">]);
    steps.push_back(ctx.step());
  }
};

}  // namespace

TEST_CASE("a graph is trained, and hooks see its values") {
  auto session = monitored(counting_graph(), stop_at_step{3}, loss_reader{}, nan_checker<"loss">{});
  completion const done = session.run_to_completion(target<"train">);
  CHECK(done.steps == 3);
  CHECK(std::string_view(done.stop.by) == "stop_at_step");
  CHECK(session.hook<loss_reader>().seen == std::vector<float>{1, 2, 3});
  CHECK(session.hook<loss_reader>().steps == std::vector<step_number>{1, 2, 3});
}

TEST_CASE("only runs with the step target are steps") {
  auto session = monitored(counting_graph());
  CHECK(session.run(fetch<"loss">)[fetch<"loss">] == 1.0F);
  CHECK(session.completed_steps() == 0);
  (void)session.run(target<"train">);
  CHECK(session.completed_steps() == 1);
  CHECK(session.evaluate(fetch<"global_step", std::int64_t>)[fetch<"global_step">] == 1);
}

TEST_CASE("a session goes on from the global step of the graph") {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  auto const step = ops.variable<std::int64_t>("global_step", {}, std::int64_t{40}, {.trainable = false});
  (void)ops.assign_add(step, ops.constant(std::int64_t{1}), "train");
  auto session = monitored(std::move(graph).step_target<"train">(), stop_at_step{num_steps{2}});
  CHECK(session.completed_steps() == 40);
  CHECK(session.run_to_completion(target<"train">).steps == 42);
}

// --- types ----------------------------------------------------------------------------------------------------------

namespace {

template <class Element, class Fed = Element>
void check_scalar(Element value) {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  (void)ops.identity(ops.placeholder<Element>("x", {}), "y");
  auto session = monitored(std::move(graph));
  CHECK(session.run(feed<"x">(value), fetch<"y", Element>)[fetch<"y">] == value);
}

template <class Element>
void check_tensor(std::array<std::array<Element, 3>, 2> const& value) {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  (void)ops.identity(ops.placeholder<Element>("x", {-1, 3}), "y");
  auto session = monitored(std::move(graph));
  auto const run = session.run(feed<"x">(value), fetch<"y", tensor<Element, 2>>);
  tensor<Element, 2> const y = run[fetch<"y">];
  CHECK(y.shape(0) == 2);
  CHECK(y.shape(1) == 3);
  REQUIRE(y.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) CHECK(y[i] == value[i / 3][i % 3]);
}

template <class... Numbers>
void check_numbers() {
  (check_scalar<Numbers>(std::numeric_limits<Numbers>::max()), ...);
  (check_scalar<Numbers>(std::numeric_limits<Numbers>::lowest()), ...);
  (check_tensor<Numbers>({{{1, 2, std::numeric_limits<Numbers>::max()}, {4, 5, 6}}}), ...);
}

}  // namespace

TEST_CASE("numbers of every kind go in and come out as they are") {
  check_numbers<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                std::uint32_t, std::uint64_t>();
  check_scalar(true);
  check_scalar(false);
  check_tensor<bool>({{{true, false, true}, {false, false, true}}});
}

TEST_CASE("short floats go in and come out bit by bit, and are read as float") {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  (void)ops.identity(ops.placeholder<half>("h", {-1}), "h_out");
  (void)ops.identity(ops.placeholder<bfloat16>("b", {-1}), "b_out");
  auto session = monitored(std::move(graph));
  // one, the largest, the smallest normal and subnormal, minus zero, infinity
  std::array<half, 6> const h{half{0x3c00}, half{0x7bff}, half{0x0400}, half{0x0001}, half{0x8000}, half{0xfc00}};
  std::array<bfloat16, 2> const b{bfloat16{0x3fc0}, bfloat16{0xff80}};
  auto const run = session.run(feed<"h">(h), feed<"b">(b), fetch<"h_out", tensor<half, 1>>, fetch<"b_out", tensor<bfloat16, 1>>);
  auto const h_out = run[fetch<"h_out">];
  for (std::size_t i = 0; i < h.size(); ++i) CHECK(h_out[i].bits == h[i].bits);
  CHECK(float(h_out[0]) == 1.0F);
  CHECK(float(h_out[1]) == 65504.0F);
  CHECK(float(h_out[2]) == 0x1p-14F);
  CHECK(float(h_out[3]) == 0x1p-24F);
  CHECK(std::signbit(float(h_out[4])));
  CHECK(float(h_out[5]) == -std::numeric_limits<float>::infinity());
  CHECK(float(run[fetch<"b_out">][0]) == 1.5F);
  CHECK(float(run[fetch<"b_out">][1]) == -std::numeric_limits<float>::infinity());
}

TEST_CASE("strings go in and come out, whatever bytes they have") {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  (void)ops.identity(ops.placeholder<std::string_view>("one", {}), "one_out");
  (void)ops.identity(ops.placeholder<std::string_view>("many", {-1}), "many_out");
  auto session = monitored(std::move(graph));
  std::string const longer(100, 'x');
  std::vector<std::string> const many{"", std::string("a\0b", 3), longer};
  auto const run = session.run(feed<"one">(std::string_view("hello")), feed<"many">(many),
                               fetch<"one_out", std::string_view>, fetch<"many_out", tensor<std::string_view, 1>>);
  CHECK(run[fetch<"one_out">] == "hello");
  auto const out = run[fetch<"many_out">];
  REQUIRE(out.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(out[i] == many[i]);
  CHECK(session.run(feed<"one">("a literal"), fetch<"one_out", std::string_view>)[fetch<"one_out">] == "a literal");
}

TEST_CASE("a scalar is read as a wider number, never as a narrower one") {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  (void)ops.cast<half>(ops.constant(1.5F), "h");
  (void)ops.constant(0.1F, "f");
  (void)ops.constant(std::int32_t{-7}, "i");
  (void)ops.constant(std::int64_t{7}, "l");
  (void)ops.constant(0.1, "d");
  auto session = monitored(std::move(graph));
  auto const run = session.run(fetch<"h", float>, fetch<"f", double>, fetch<"i", std::int64_t>);
  CHECK(run[fetch<"h">] == 1.5F);
  CHECK(run[fetch<"f">] == double(0.1F));
  CHECK(run[fetch<"i">] == -7);
  CHECK(starts_with(message_of([&] { return session.run(fetch<"d", float>); }, session),
                    "fetch \"d\": it is asked for as float32 of rank 0, in the graph it is float64 []"));
}
TEST_CASE("an integer of 64 bits is no int32") {
  tensorflow_graph<> graph;
  (void)graph.ops().constant(std::int64_t{7}, "l");
  auto session = monitored(std::move(graph));
  CHECK(starts_with(message_of([&] { return session.run(fetch<"l", std::int32_t>); }, session),
                    "fetch \"l\": it is asked for as int32 of rank 0, in the graph it is int64 []"));
}

TEST_CASE("a single number is fed as the graph wants it") {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  (void)ops.identity(ops.placeholder<float>("f", {}), "f_out");
  (void)ops.identity(ops.placeholder<std::int64_t>("i", {}), "i_out");
  auto session = monitored(std::move(graph));
  auto const run = session.run(feed<"f">(0.25), feed<"i">(3), fetch<"f_out", float>, fetch<"i_out", std::int64_t>);
  CHECK(run[fetch<"f_out">] == 0.25F);
  CHECK(run[fetch<"i_out">] == 3);
  CHECK(starts_with(message_of([&] { return session.run(feed<"f">(1.0), feed<"i">(0.5), fetch<"i_out", std::int64_t>); }, session),
                    "feed \"i\": it is given as float64 of rank 0, in the graph it is int64 []"));
}

TEST_CASE("what is fetched is where TensorFlow put it, and what is fed may go away") {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  auto const w = ops.variable<float>("w", {2}, 0.0F);
  (void)ops.assign(w, ops.placeholder<float>("x", {2}), "keep");
  auto session = monitored(std::move(graph));
  std::array<float, 2> x{1, 2};
  (void)session.run(target<"keep">, feed<"x">(x));
  x = {3, 4};
  auto const w_now = session.run(fetch<"w", tensor<float, 1>>)[fetch<"w">];
  CHECK(w_now[0] == 1.0F);
  CHECK(w_now[1] == 2.0F);
}

// --- names ----------------------------------------------------------------------------------------------------------

namespace {
struct asks_wrong_name {
  auto before_run(auto&) { return fetch<"los", float>; }
  void after_run(auto&, auto&) {}
};
struct asks_wrong_type {
  auto before_run(auto&) { return fetch<"loss", tensor<float, 1>>; }
  void after_run(auto&, auto&) {}
};
struct feeds_wrong_name {
  auto before_run(auto&) { return feed<"rat">(1.0F); }
};
struct wants_wrong_target {
  auto before_run(auto&) { return target<"trian">; }
};
}  // namespace

TEST_CASE("what hooks ask for is looked for when the session is made, and near names are told") {
  auto const making = [](auto hook) {
    return said::failure_of_making([&] { return try_monitored(counting_graph(), std::move(hook)); });
  };
  said::failure const fetched = making(asks_wrong_name{});
  CHECK(fetched.kind == error_kind::invalid_argument);
  CHECK(fetched.where == callback::create_session);
  CHECK(fetched.words.starts_with("fetch \"los\": the graph has no \"los\"; near: \"loss\""));
  CHECK(making(asks_wrong_type{}).words
            .starts_with("fetch \"loss\": it is asked for as float32 of rank 1, in the graph it is float32 []"));
  CHECK(making(feeds_wrong_name{}).words.starts_with("feed \"rat\": the graph has no \"rat\"; near: \"rate\""));
  CHECK(making(wants_wrong_target{}).words.starts_with("target \"trian\": the graph has no \"trian\"; near: \"train\""));
}

TEST_CASE("a declared value that the graph does not have is an error of making the session") {
  said::failure const happened =
      said::failure_of_making([] { return try_monitored(counting_graph().value<"accuracy", float>(), stop_at_step{1}); });
  CHECK(happened.words.starts_with("fetch \"accuracy\": the graph has no \"accuracy\""));
}

TEST_CASE("names have outputs, scopes and aliases") {
  auto session = monitored(counting_graph().value<"w_read", double>("w").alias<"step">("train"));
  CHECK(session.run(fetch<"loss:0", float>)[fetch<"loss:0">] == 1.0F);
  CHECK(session.run(fetch<"w_read">, target<"step">)[fetch<"w_read">] >= 1);
  CHECK(starts_with(message_of([&] { return session.run(fetch<"loss:1", float>); }, session),
                    "fetch \"loss:1\": the operation \"loss\" of the graph has 1 outputs"));
}
TEST_CASE("an operation without outputs cannot be fetched") {
  auto session = monitored(counting_graph());
  CHECK(starts_with(message_of([&] { return session.run(fetch<"train", float>); }, session),
                    "fetch \"train\": the operation \"train\" of the graph has 0 outputs. Mend: run it as a target"));
}

// --- what is fed ----------------------------------------------------------------------------------------------------

TEST_CASE("a shape that does not fit is told with both shapes, and nothing runs") {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  auto const x = ops.placeholder<float>("x", {-1, 2});
  (void)ops.reduce_sum(x, "sum");
  auto session = monitored(std::move(graph));
  std::array<std::array<float, 3>, 2> const wrong{};
  CHECK(starts_with(message_of([&] { return session.run(feed<"x">(wrong), fetch<"sum", float>); }, session),
                    "feed \"x\": its shape is [2,3], in the graph it is float32 [?,2]"));
}
TEST_CASE("a placeholder that nobody feeds is an error with TensorFlow's words") {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  (void)ops.identity(ops.placeholder<float>("x", {}), "y");
  auto session = monitored(std::move(graph));
  std::string const words = message_of([&] { return session.run(fetch<"y", float>); }, session);
  CHECK(words.find("You must feed a value for placeholder tensor 'x'") != std::string::npos);
  CHECK(words.find("invalid_argument") != std::string::npos);
}

TEST_CASE("a rank that the graph does not know is looked at when the run has given it") {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  (void)ops.op("PlaceholderWithDefault", "x", {ops.constant(1.0F)}, {{"shape", tensorflow::shape::unknown()}});
  (void)ops.identity(ops.find("x")[0], "y");
  auto session = monitored(std::move(graph));
  std::array<float, 2> const two{1, 2};
  CHECK(session.run(feed<"x">(two), fetch<"y", tensor<float, 1>>)[fetch<"y">][1] == 2.0F);
  CHECK(starts_with(message_of([&] { return session.run(fetch<"y", tensor<float, 1>>); }, session),
                    "fetch \"y\": it is asked for with rank 1, the run gave []"));
}

TEST_CASE("a number that would be another one in the graph is not fed") {
  auto const refused = [](auto value) {
    tensorflow_graph<> graph;
    auto ops = graph.ops();
    (void)ops.identity(ops.placeholder<std::int8_t>("small", {}), "small_out");
    (void)ops.identity(ops.placeholder<float>("f", {}), "f_out");
    auto session = monitored(std::move(graph));
    if constexpr (std::is_integral_v<decltype(value)>) {
      return message_of([&] { return session.run(feed<"small">(value), fetch<"small_out", std::int8_t>); }, session);
    } else {
      return message_of([&] { return session.run(feed<"f">(value), fetch<"f_out", float>); }, session);
    }
  };
  CHECK(refused(127).empty());
  CHECK(refused(-128).empty());
  CHECK(starts_with(refused(128), "feed \"small\": the number does not fit int8"));
  CHECK(starts_with(refused(255U), "feed \"small\": the number does not fit int8"));
  CHECK(starts_with(refused(1e300), "feed \"f\": the number does not fit float32"));
  CHECK(refused(std::numeric_limits<double>::infinity()).empty());
}
TEST_CASE("what is fed can be fetched, and a run of which nothing is asked does nothing") {
  auto session = monitored(counting_graph().value<"rate", float>());
  auto const run = session.run(target<"train">, feed<"rate">(0.5F), fetch<"rate">, fetch<"rate:0", double>);
  CHECK(run[fetch<"rate">] == 0.5F);
  CHECK(run[fetch<"rate:0">] == 0.5);
  CHECK(session.run(feed<"rate">(2.0F), fetch<"rate">)[fetch<"rate">] == 2.0F);
  CHECK(session.run());
  CHECK(session.evaluate(fetch<"w", float>)[fetch<"w">] == 1.5F);
}

// --- errors ---------------------------------------------------------------------------------------------------------

TEST_CASE("a graph that cannot be imported says so when the session is made") {
  auto const message = [](auto graph) {
    return said::failure_of_making([&] { return try_monitored(std::move(graph), stop_at_step{1}); }).words;
  };
  CHECK(message(tensorflow_graph<>::from_graph_def("no/such.pb")).starts_with("no/such.pb cannot be read"));
  CHECK(message(tensorflow_graph<>::from_graph_def_bytes("no graph at all"))
            .starts_with("the GraphDef cannot be imported as a graph: "));

  tensorflow_graph<> made = [] {
    tensorflow_graph<> graph;
    (void)graph.ops().constant(1.0F, "one");
    return graph;
  }();
  tensorflow::buffer_handle const bytes(TF_NewBuffer());
  TF_GraphToGraphDef(made.handle(), bytes.get(), tensorflow::new_status().get());
  std::string_view const whole(static_cast<char const*>(bytes->data), bytes->length);
  CHECK(message(tensorflow_graph<>::from_graph_def_bytes(whole)).empty());
  std::string const cut = message(tensorflow_graph<>::from_graph_def_bytes(whole.substr(0, whole.size() / 2)));
  CHECK(starts_with(cut, "the GraphDef cannot be imported as a graph: Invalid GraphDef"));
}

TEST_CASE("an operation that this TensorFlow does not have is named") {
  // node { name: "n" op: "NoSuchOp" }
  std::string_view const bytes("\x0a\x0d\x0a\x01n\x12\x08NoSuchOp", 15);
  std::string const words =
      said::failure_of_making([&] { return try_monitored(tensorflow_graph<>::from_graph_def_bytes(bytes), stop_at_step{1}); }).words;
  CHECK(words.find("NoSuchOp") != std::string::npos);
}

TEST_CASE("an error of building in C++ is the session's, and names the node") {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  (void)ops.matmul(ops.constant<float>({1, 2}, {1, 2}), ops.constant<float>({1, 2, 3}, {3, 1}), "product");
  said::failure const happened = said::failure_of_making([&] { return try_monitored(std::move(graph), stop_at_step{1}); });
  CHECK(happened.kind == error_kind::invalid_argument);
  CHECK(happened.words.find("product") != std::string::npos);
}

TEST_CASE("variables that nothing initialises are named") {
  tensorflow_graph<> graph;
  auto const type = [](char const* t) { return t; };
  TF_OperationDescription* const made = TF_NewOperation(graph.handle(), type("VarHandleOp"), "lonely");
  TF_SetAttrType(made, "dtype", TF_FLOAT);
  TF_SetAttrShape(made, "shape", nullptr, 0);
  TF_FinishOperation(made, tensorflow::new_status().get());
  said::failure const happened = said::failure_of_making([&] { return try_monitored(std::move(graph), stop_at_step{1}); });
  CHECK(happened.words.starts_with("no init op initialises \"lonely\""));
}

TEST_CASE("the end of a Dataset is the end of input") {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  auto const rows = ops.tensor_slices({ops.constant<float>({1, 2, 3})}).iterator();
  (void)ops.identity(rows[0], "x");
  auto session = monitored(std::move(graph).value<"x", float>(), nan_checker<"x">{});
  float sum = 0;
  while (!session.should_stop()) {
    auto const run = session.run(fetch<"x">);
    if (run) sum += run[fetch<"x">];
  }
  CHECK(sum == 6.0F);
  CHECK(session.completed_steps() == 3);
  CHECK(std::string_view(session.stop().by) == "end_of_input");
  CHECK(session.status().kind == error_kind::none);
}

// --- what a checkpoint sees -----------------------------------------------------------------------------------------

namespace {
struct looking {
  std::vector<float> seen{};
  void before_run(auto& ctx) { seen.push_back(ctx.session().template value<"w">()); }
};
struct acting {
  decltype(step_from<"global_step">(every_steps{2})) trigger = step_from<"global_step">(every_steps{2});
  std::vector<step_number> acted{};
  void after_run(auto& ctx) {
    if (ctx.due()) acted.push_back(ctx.step());
  }
};
struct tracing {
  int slices = 0;
  auto before_run(auto& ctx) {
    return ask_if(ctx.step() == 2, run_options(tensorflow::run_options{.trace = tensorflow::trace_level::full}));
  }
  void after_run(auto& ctx) {
    slices = 0;
    ctx.metadata().each_slice([&](auto const&) { ++slices; });
  }
};
struct describing {
  bool found = false;
  void after_create_session(auto& session) {
    session.state().each_node([&](node_info const& node) {
      CHECK(!std::string_view(node.name).starts_with("tautline/"));
      if (std::string_view(node.name) != "loss") return;
      found = true;
      CHECK(std::string_view(node.kind) == "Identity");
      REQUIRE(node.input_count == 1);
      CHECK(node.has_form);
      CHECK(node.form.rank == 0);
    });
  }
};
}  // namespace

TEST_CASE("a hook's look at a stored value reads it, and it comes with each run from then on") {
  auto session = monitored(counting_graph().value<"w", float>(), looking{});
  for (int i = 0; i < 3; ++i) (void)session.run(target<"train">);
  (void)session.run(fetch<"loss">);
  CHECK(session.hook<looking>().seen.front() == 1.0F);
  (void)session.run(fetch<"loss">);
  CHECK(session.hook<looking>().seen.back() == 4.0F);
}

TEST_CASE("a rank that the graph leaves open is that of each party, and memory is safe whoever is wrong") {
  auto const open_graph = [] {
    tensorflow_graph<> graph;
    auto ops = graph.ops();
    (void)ops.op("PlaceholderWithDefault", "x", {ops.constant(1.5F)}, {{"shape", tensorflow::shape::unknown()}});
    (void)ops.identity(ops.find("x")[0], "y");
    return graph;
  };
  auto session = monitored(open_graph());
  std::vector<float> const two{2, 3};
  for (int i = 0; i < 2; ++i) {
    CHECK(session.run(fetch<"y", float>)[fetch<"y">] == 1.5F);
    CHECK(session.run(feed<"x">(two), fetch<"y", tensor<float, 1>>)[fetch<"y">][1] == 3.0F);
  }
  std::vector<float> const none;
  CHECK(starts_with(message_of([&] { return session.run(feed<"x">(none), fetch<"y", float>); }, session),
                    "fetch \"y\": it is asked for with rank 0, the run gave [0]"));
}

TEST_CASE("without a step target a trigger sees a step that is slow, too") {
  tensorflow_graph<> graph;
  auto ops = graph.ops();
  auto const big = ops.fill<float>({300, 300}, 0.001);
  auto const slow = ops.matmul(ops.matmul(big, big), ops.matmul(big, big));
  auto const one = ops.cast<std::int64_t>(ops.identity(ops.reduce_sum(slow * 0.0)) + 1.0);
  (void)ops.assign_add(ops.global_step(), one, "train");
  auto session = monitored(std::move(graph).value<"global_step", std::int64_t>(), stop_at_step{6}, acting{});
  CHECK(session.run_to_completion(target<"train">));
  CHECK(session.hook<acting>().acted == std::vector<step_number>{2, 4, 6});
}

TEST_CASE("what a scaffold names must be there, and a ready op gives strings") {
  auto const message = [](tensorflow::scaffold names) {
    return said::failure_of_making([&] {
             return try_monitored(counting_graph().settings({.scaffold = std::move(names)}), stop_at_step{1});
           }).words;
  };
  CHECK(message({}).empty());
  CHECK(starts_with(message({.init_op = "intt"}), "scaffold.init_op: the graph has no \"intt\""));
  CHECK(starts_with(message({.local_init_op = "lokal"}), "scaffold.local_init_op: the graph has no \"lokal\""));
  CHECK(starts_with(message({.global_step = "glob"}), "scaffold.global_step: the graph has no \"glob\""));
  CHECK(starts_with(message({.ready_op = "loss"}), "scaffold.ready_op: \"loss\" does not give strings"));
}

TEST_CASE("triggers count by the global step of the graph") {
  auto session = monitored(counting_graph().value<"global_step", std::int64_t>(), stop_at_step{5}, acting{});
  CHECK(session.run_to_completion(target<"train">));
  CHECK(session.hook<acting>().acted == std::vector<step_number>{2, 4});
}

TEST_CASE("run options of all parties are merged, and what was recorded is there") {
  auto session = monitored(counting_graph(), tracing{});
  (void)session.run(target<"train">, run_options(tensorflow::run_options{.timeout_in_ms = 60'000}));
  CHECK(session.hook<tracing>().slices == 0);
  (void)session.run(target<"train">, run_options(tensorflow::run_options{.timeout_in_ms = 60'000}));
  CHECK(session.hook<tracing>().slices > 3);
  (void)session.run(target<"train">);
  CHECK(session.hook<tracing>().slices == 0);
}

TEST_CASE("the description of the graph has its nodes, their kinds and inputs") {
  auto session = monitored(counting_graph(), describing{});
  CHECK(session.hook<describing>().found);
}
