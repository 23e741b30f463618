// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "bare_session.hpp"

using namespace bare;

TEST_CASE("arithmetic gives what it gives by hand") {
  built g;
  auto& ops = g.ops;
  auto const x = ops.placeholder<float>("x", {-1, 2});
  auto const y = ops.constant<float>({1, 2, 3, 4}, {2, 2}, "y");
  std::vector<built::fed> const fed{{x, constant_value(vec{4, 9, 16, 25}, {2, 2})}};
  auto const value = [&](output const& of) { return g.value(of, fed); };

  CHECK(value(x + y) == vec{5, 11, 19, 29});
  CHECK(value(x - y) == vec{3, 7, 13, 21});
  CHECK(value(x * y) == vec{4, 18, 48, 100});
  CHECK(value(x / y) == vec{4, 4.5f, 16 / 3.f, 6.25f});
  CHECK(value(2 * x + 1) == vec{9, 19, 33, 51});
  CHECK(value(x / 2 - 1) == vec{1, 3.5f, 7, 11.5f});
  CHECK(value(1 - x) == vec{-3, -8, -15, -24});
  CHECK(value(36 / x) == vec{9, 4, 2.25f, 1.44f});
  CHECK(value(1 + x) == value(x + 1));
  CHECK(value(x - 1) == vec{3, 8, 15, 24});
  CHECK(value(x * 3) == vec{12, 27, 48, 75});
  CHECK(value(-x) == vec{-4, -9, -16, -25});
  CHECK(value(ops.add(x, y)) == value(x + y));
  CHECK(value(ops.sub(x, y)) == value(x - y));
  CHECK(value(ops.mul(x, y)) == value(x * y));
  CHECK(value(ops.div(x, y)) == value(x / y));
  CHECK(value(ops.maximum(x, y * 6)) == vec{6, 12, 18, 25});
  CHECK(value(ops.minimum(x, y * 6)) == vec{4, 9, 16, 24});
  CHECK(value(ops.neg(x)) == value(-x));
  CHECK(value(ops.abs(-x)) == vec{4, 9, 16, 25});
  CHECK(value(ops.square(y)) == vec{1, 4, 9, 16});
  CHECK(value(ops.sqrt(x)) == vec{2, 3, 4, 5});
  CHECK(near(value(ops.exp(y)), {std::exp(1.f), std::exp(2.f), std::exp(3.f), std::exp(4.f)}));
  CHECK(near(value(ops.log(x)), {std::log(4.f), std::log(9.f), std::log(16.f), std::log(25.f)}));
  CHECK(value(ops.add_n({x, y, y})) == vec{6, 13, 22, 33});
  CHECK(value(ops.identity(x)) == vec{4, 9, 16, 25});
  CHECK(value(ops.stop_gradient(x)) == vec{4, 9, 16, 25});
  CHECK(value(ops.matmul(x, y)) == vec{4 + 27, 8 + 36, 16 + 75, 32 + 100});
  CHECK(value(ops.matmul(x, y, false, true)) == vec{4 + 18, 12 + 36, 16 + 50, 48 + 100});
  CHECK(value(ops.bias_add(x, ops.constant<float>({10, 20}))) == vec{14, 29, 26, 45});
  CHECK(value(ops.reshape(x, {-1})) == vec{4, 9, 16, 25});
  CHECK(ops.reshape(y, {1, -1}).known_shape() == shape{1, 4});
  CHECK(x.known_shape() == shape{-1, 2});
  CHECK(x.name() == "x");
  CHECK(x.type() == TF_FLOAT);
}

TEST_CASE("the functions of neural networks give what they give by hand") {
  built g;
  auto& ops = g.ops;
  auto const x = ops.constant<float>({-1, 0, 2, 1, 1, 1}, {2, 3});
  CHECK(g.value(ops.relu(x)) == vec{0, 0, 2, 1, 1, 1});
  auto const logistic = [](float v) { return 1 / (1 + std::exp(-v)); };
  CHECK(near(g.value(ops.sigmoid(x)), {logistic(-1), 0.5f, logistic(2), logistic(1), logistic(1), logistic(1)}));
  CHECK(
      near(g.value(ops.tanh(x)), {std::tanh(-1.f), 0, std::tanh(2.f), std::tanh(1.f), std::tanh(1.f), std::tanh(1.f)}));
  float const sum = std::exp(-1.f) + 1 + std::exp(2.f);
  vec const soft{std::exp(-1.f) / sum, 1 / sum, std::exp(2.f) / sum, 1 / 3.f, 1 / 3.f, 1 / 3.f};
  CHECK(near(g.value(ops.softmax(x)), soft));
  CHECK(near(g.value(ops.log_softmax(x)), {std::log(soft[0]), std::log(soft[1]), std::log(soft[2]), std::log(soft[3]),
                                           std::log(soft[4]), std::log(soft[5])}));
  auto const classes = ops.constant<std::int64_t>({2, 0});
  vec const expected{-std::log(soft[2]), -std::log(soft[3])};
  CHECK(near(g.value(ops.sparse_softmax_cross_entropy_with_logits(classes, x)), expected));
  auto const probabilities = ops.one_hot<float>(classes, 3);
  CHECK(g.value(probabilities) == vec{0, 0, 1, 1, 0, 0});
  CHECK(near(g.value(ops.softmax_cross_entropy_with_logits(probabilities, x)), expected));
  CHECK(g.value(ops.l2_loss(x)) == vec{4});
  CHECK(g.value<std::int64_t>(ops.argmax(x, 1)) == std::vector<std::int64_t>{2, 0});
  CHECK(g.value<std::int64_t>(ops.argmax(x, 0)) == std::vector<std::int64_t>{1, 1, 0});
  auto const hits = ops.equal(ops.argmax(x, 1), ops.constant<std::int64_t>({2, 1}));
  CHECK(g.value<bool>(hits) == std::vector<bool>{true, false});
  CHECK(g.value(ops.reduce_mean(ops.cast<float>(hits))) == vec{0.5f});
}

TEST_CASE("reductions are over all axes, or those that are given") {
  built g;
  auto& ops = g.ops;
  auto const x = ops.constant<float>({1, 2, 3, 4, 5, 9}, {2, 3});
  CHECK(g.value(ops.reduce_mean(x)) == vec{4});
  CHECK(g.value(ops.reduce_sum(x)) == vec{24});
  CHECK(g.value(ops.reduce_max(x)) == vec{9});
  CHECK(g.value(ops.reduce_min(x)) == vec{1});
  CHECK(g.value(ops.reduce_mean(x, {0})) == vec{2.5f, 3.5f, 6});
  CHECK(g.value(ops.reduce_sum(x, {1})) == vec{6, 18});
  CHECK(g.value(ops.reduce_sum(x, {-1}, "named")) == vec{6, 18});
  CHECK(g.value(ops.reduce_max(x, {0, 1})) == vec{9});
  CHECK(g.value(ops.reduce_min(x, {1})) == vec{1, 4});
  CHECK(ops.find("named"));
  // of a value whose rank is known in the run only
  auto const any = ops.placeholder<float>("any");
  CHECK(any.known_shape().rank() == -1);
  CHECK(g.value(ops.reduce_sum(any), {{any, constant_value(vec{1, 2, 3, 4}, {2, 1, 2})}}) == vec{10});
}

TEST_CASE("constants have the type and shape of what they are made from") {
  built g;
  auto& ops = g.ops;
  CHECK(g.value(ops.constant(2.5f, "half_of_five")) == vec{2.5f});
  CHECK(ops.find("half_of_five").output_count() == 1);
  CHECK(g.value<double>(ops.constant(2.5)) == std::vector<double>{2.5});
  CHECK(g.value<std::int32_t>(ops.constant(std::array{1, 2})) == std::vector<std::int32_t>{1, 2});
  CHECK(g.value<bool>(ops.constant(true)) == std::vector<bool>{true});
  CHECK(g.value<std::string>(ops.constant("one text that is longer than a short string holds")) ==
        std::vector<std::string>{"one text that is longer than a short string holds"});
  CHECK(g.value<std::string>(ops.constant(std::vector<std::string>{"", "b"})) == std::vector<std::string>{"", "b"});
  std::array<std::array<float, 2>, 3> const matrix{{{1, 2}, {3, 4}, {5, 6}}};
  auto const made = ops.constant(matrix);
  CHECK(made.known_shape() == shape{3, 2});
  CHECK(g.value(made) == vec{1, 2, 3, 4, 5, 6});
  CHECK(ops.constant(std::vector<float>{}).known_shape() == shape{0});
  CHECK(g.value<std::int64_t>(ops.fill<std::int64_t>({2}, 7)) == std::vector<std::int64_t>{7, 7});
  CHECK(g.value(ops.zeros<float>({2})) == vec{0, 0});
  auto const usual = ops.placeholder_with_default(ops.constant(3.f), {}, "usual");
  CHECK(g.value(usual) == vec{3});
  CHECK(g.value(usual * 2, {{usual, constant_value(4.f)}}) == vec{8});
  // halves are rounded by TensorFlow
  auto const half = ops.op("Cast", "half", {ops.constant(1.5f)}, {{"DstT", TF_HALF}})[0];
  CHECK(g.value(ops.cast<float>(half * 2)) == vec{3});
}

TEST_CASE("any op can be made by its name, with attributes of every kind") {
  built g;
  auto& ops = g.ops;
  auto const x = ops.constant<float>({1, 2, 3, 4}, {2, 2}), y = x + 10;
  CHECK(g.value(ops.op("Pack", "packed", {std::vector{x, y}}, {{"axis", 1}})[0]) == vec{1, 2, 11, 12, 3, 4, 13, 14});
  auto const parts = ops.op("Unpack", "", {x}, {{"num", 2}, {"axis", 1}});
  CHECK(parts.output_count() == 2);
  CHECK(parts[1].name() == "Unpack:1");
  CHECK(g.value(parts[1]) == vec{2, 4});
  CHECK(g.value(ops.op("Sum", "", {x, ops.constant(0)}, {{"keep_dims", true}})[0]) == vec{4, 6});
  CHECK(g.value(ops.op("LeakyRelu", "", {-x}, {{"alpha", 0.5}})[0]) == vec{-0.5f, -1, -1.5f, -2});
  CHECK(g.value<std::string>(ops.op("StringJoin", "", {std::vector{ops.constant("a"), ops.constant("b")}},
                                    {{"separator", "-"}})[0]) == std::vector<std::string>{"a-b"});
  CHECK(g.value<std::int32_t>(ops.op("Const", "made", {}, {{"value", constant_value(5)}, {"dtype", TF_INT32}})[0]) ==
        std::vector<std::int32_t>{5});
  CHECK(ops.op("Placeholder", "p", {}, {{"dtype", TF_FLOAT}, {"shape", shape{3}}})[0].known_shape() == shape{3});
  auto const squeezed =
      ops.op("Squeeze", "", {ops.reshape(x, {1, 4, 1})}, {{"squeeze_dims", std::vector<std::int64_t>{0}}})[0];
  CHECK(squeezed.known_shape() == shape{4, 1});
}

TEST_CASE("variables begin with their initial value, are assigned, and are read in order") {
  built g;
  auto& ops = g.ops;
  auto const w = ops.variable<float>("w", {2}, 1.5f);
  auto const b = ops.variable<float>("b", {2}, vec{1, 2});
  auto const c = ops.variable<std::int64_t>("c", {}, 0);
  auto const d = ops.variable<float>("d", {2}, ops.constant<float>({3, 4}) * 2);
  auto const e = ops.variable<float>("e", {2, 2}, constant_value(vec{1, 2, 3, 4}, {2, 2}));
  g.make(ops.init());
  CHECK(g.value(w) == vec{1.5f, 1.5f});
  CHECK(g.value(b) == vec{1, 2});
  CHECK(g.value<std::int64_t>(c) == std::vector<std::int64_t>{0});
  CHECK(g.value(d) == vec{6, 8});
  CHECK(g.value(e) == vec{1, 2, 3, 4});
  CHECK(w.variable_name() == "w");
  CHECK(w.name() == "w/Read/ReadVariableOp");

  g.make(ops.assign(w, ops.constant<float>({5, 6}), "set"));
  CHECK(g.value(w) == vec{5, 6});
  g.make(ops.assign_add(w, b));
  CHECK(g.value(w) == vec{6, 8});
  g.make(ops.assign_sub(w, b));
  CHECK(g.value(w) == vec{5, 6});
  g.make(ops.find("set"));

  auto const more = ops.assign_add(c, ops.constant(std::int64_t{1}), "more");
  auto const after = ops.control_dependencies({more}).read(c, "after");
  CHECK(g.run<std::int64_t>({after}) == std::vector<std::vector<std::int64_t>>{{1}});
  CHECK(g.run<std::int64_t>({after}) == std::vector<std::vector<std::int64_t>>{{2}});
  g.make(ops.group({more, ops.no_op()}, "both"));
  CHECK(g.value<std::int64_t>(c) == std::vector<std::int64_t>{3});
}

TEST_CASE("init initialises what there is, once, and further variables later") {
  built g;
  auto& ops = g.ops;
  auto const a = ops.variable<float>("a", {}, 1);
  auto const first = ops.init();
  CHECK(first.name() == "init");
  CHECK(ops.init().name() == "init");
  auto const b = ops.variable<float>("b", {}, 2);
  auto const l = ops.variable<float>("l", {}, 3, {.local = true});
  auto const second = ops.init();
  CHECK(second.name() == "init_1");
  g.make(second);
  CHECK(g.value(a) == vec{1});
  CHECK(g.value(b) == vec{2});
  g.run({l});
  CHECK(g.code != TF_OK);
  g.make(ops.local_init());
  CHECK(g.value(l) == vec{3});
  CHECK(ops.trainable_variables() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("the global step is made once and found again") {
  built g;
  auto const step = g.ops.name_scope("inner").global_step();
  CHECK(step.variable_name() == "global_step");
  CHECK(step.type() == TF_INT64);
  auto const again = g.ops.global_step();
  CHECK(again.name() == step.name());
  CHECK(again.resource().handle().oper == step.resource().handle().oper);
  CHECK(g.ops.trainable_variables().empty());
  REQUIRE(g.ops.status().ok());
}

TEST_CASE("scopes, devices and control dependencies are those of the scope") {
  built g;
  auto& ops = g.ops;
  auto const dense = ops.name_scope("dense");
  auto const w = dense.variable<float>("w", {1}, 0);
  CHECK(w.variable_name() == "dense/w");
  auto const inner = dense.name_scope("inner").with_device("/cpu:0");
  auto const x = inner.constant(1.f, "x");
  CHECK(x.name() == "dense/inner/x");
  CHECK(std::string(TF_OperationDevice(x.handle().oper)) == "/cpu:0");
  CHECK(std::string(TF_OperationDevice(w.handle().oper)).empty());
  CHECK((x + 1).name() == "dense/inner/add");
  CHECK((x + 1).name() == "dense/inner/add_1");
  CHECK(ops.relu(x).name() == "Relu");
  CHECK(ops.relu(x, "hidden").name() == "hidden");
  auto const held = ops.control_dependencies({x, w}).no_op("held");
  CHECK(TF_OperationNumControlInputs(held.handle()) == 2);
  CHECK(TF_OperationNumControlInputs(ops.no_op().handle()) == 0);
  auto const free = ops.control_dependencies({held}).variable<float>("free", {}, 0);
  CHECK(TF_OperationNumControlInputs(free.handle().oper) == 0);
  CHECK(TF_OperationNumControlInputs(free.initializer().handle()) == 0);
  CHECK(!ops.find("nowhere"));
  REQUIRE(ops.status().ok());
}

TEST_CASE("what belongs to a variable is where the variable is") {
  built g;
  auto& ops = g.ops;
  auto const device = [&](std::string const& node) -> std::string {
    REQUIRE_MESSAGE(ops.find(node), node);
    return TF_OperationDevice(ops.find(node).handle());
  };
  auto const ps = ops.with_device("/job:ps/task:0"), worker = ops.with_device("/job:worker/task:1");
  auto const w = ps.variable<float>("w", {2}, 0);
  auto const step = ps.name_scope("s").global_step();
  worker.assign(w, ops.zeros<float>({2}), "set");
  worker.read(w, "read");
  auto const loss = worker.reduce_sum(worker.square(w), "loss");
  worker.minimize(loss, adam{}, step, "adam");
  worker.minimize(loss, momentum{}, step, "momentum");
  REQUIRE_MESSAGE(ops.status().ok(), std::string(ops.status().message));
  for (char const* node :
       {"w", "w/Assign", "w/Initializer/zeros", "w/Read/ReadVariableOp", "global_step", "global_step/Assign", "set",
        "read", "w/Adam", "w/Adam_1/Assign", "beta1_power", "adam/AssignVariableOp", "adam",
        "adam/update_w/ResourceApplyAdam", "w/Momentum", "momentum/update_w/ResourceApplyMomentum"}) {
    CAPTURE(std::string(node));
    CHECK(device(node) == "/job:ps/task:0");
  }
  CHECK(device("loss") == "/job:worker/task:1");
}

namespace {

/// The derivative of the sum of y by x, at `at`, by central differences.
vec by_differences(built& g, output const& y, output const& x, vec const& at, shape const& form) {
  vec found;
  for (std::size_t i = 0; i < at.size(); ++i) {
    float const h = 1e-2f;
    vec up = at, down = at;
    up[i] += h, down[i] -= h;
    auto const sum = [&](vec const& here) {
      double total = 0;
      for (float const one : g.value(y, {{x, constant_value(here, form)}})) total += double(one);
      return total;
    };
    found.push_back(float((sum(up) - sum(down)) / (2 * double(h))));
  }
  return found;
}

}  // namespace

TEST_CASE("gradients are those that differences give") {
  built g;
  auto& ops = g.ops;
  auto const x = ops.placeholder<float>("x", {2, 3});
  vec const at{0.3f, -0.8f, 1.1f, 0.9f, 0.4f, -0.2f};
  auto const w = ops.constant<float>({0.5f, -1, 2, 0.3f, 1, -0.7f}, {3, 2});
  auto const classes = ops.constant<std::int64_t>({2, 0});
  auto const positive = ops.square(x) + 1;
  std::vector<std::pair<std::string, output>> const functions{
      {"add", x + 2 * x},
      {"sub", 1 - x},
      {"div", x / positive},
      {"neg", -x},
      {"square", ops.square(x)},
      {"sqrt", ops.sqrt(positive)},
      {"exp", ops.exp(x)},
      {"log", ops.log(positive)},
      {"abs", ops.abs(x)},
      {"maximum", ops.maximum(x, 0.1 - x)},
      {"minimum", ops.minimum(x, 0.1 - x)},
      {"matmul", ops.square(ops.matmul(x, w))},
      {"bias_add", ops.square(ops.bias_add(x, ops.constant<float>({1, 2, 3})))},
      {"relu", ops.relu(x)},
      {"sigmoid", ops.sigmoid(x)},
      {"tanh", ops.tanh(x)},
      {"softmax", ops.square(ops.softmax(x))},
      {"log_softmax", ops.square(ops.log_softmax(x))},
      {"reduce_mean", ops.square(ops.reduce_mean(x, {0}))},
      {"reduce_sum", ops.square(ops.reduce_sum(x, {1}))},
      {"reduce_max", ops.square(ops.reduce_max(x, {1}))},
      {"reduce_min", ops.square(ops.reduce_min(x, {1}))},
      {"identity", ops.identity(x) * x},
      {"reshape", ops.square(ops.reshape(x, {3, 2}))},
      {"cast", ops.square(ops.cast<float>(ops.cast<double>(x)))},
      {"add_n", ops.square(ops.add_n({x, x}))},
      {"l2_loss", ops.l2_loss(x)},
      {"softmax_cross_entropy_with_logits", ops.softmax_cross_entropy_with_logits(ops.one_hot<float>(classes, 3), x)},
      {"sparse_softmax_cross_entropy_with_logits", ops.sparse_softmax_cross_entropy_with_logits(classes, x)},
  };
  for (auto const& [name, y] : functions) {
    INFO(name);
    auto const made = ops.gradient(y, x);
    CHECK_MESSAGE(ops.status().ok(), std::string(ops.status().message));
    if (!ops.status().ok()) break;
    CHECK(near(g.value(made, {{x, constant_value(at, {2, 3})}}), by_differences(g, y, x, at, {2, 3}), 2e-2f));
  }
}

TEST_CASE("gradients of several values are summed, and chains are followed through variables") {
  built g;
  auto& ops = g.ops;
  auto const w = ops.variable<float>("w", {2}, vec{1, 2});
  auto const unused = ops.variable<float>("unused", {2}, 0);
  auto const both = ops.gradients({ops.square(w), 3 * w}, {w})[0];
  g.make(ops.init());
  CHECK(g.value(both) == vec{5, 7});
  // by the variable itself, whichever read of it was used
  auto const again = ops.square(ops.read(w)) + w;
  CHECK(g.value(ops.gradient(again, w.resource())) == vec{3, 5});
  CHECK(ops.status().ok());
  (void)ops.gradient(again, unused);
  CHECK(std::string(ops.status().message) == "gradients: nothing depends on 'unused/Read/ReadVariableOp'");
}

namespace {

/// A quadratic bowl: the gradient is w - 3.
struct bowl {
  built g;
  variable w = g.ops.variable<float>("dense/w", {2}, vec{1, -1});
  variable idle = g.ops.variable<float>("idle", {2}, vec{1, 1});
  variable fixed = g.ops.variable<float>("fixed", {2}, vec{3, 3}, {.trainable = false});
  output loss = g.ops.reduce_sum(g.ops.square(w - fixed) / 2, "loss");

  /// What w is after each of three steps.
  template <class Optimizer>
  std::vector<vec> trained(Optimizer const& how) {
    auto const step = g.ops.global_step();
    auto const train = g.ops.minimize(loss, how, step, "train");
    REQUIRE_MESSAGE(g.ops.status().ok(), std::string(g.ops.status().message));
    g.make(g.ops.init());
    std::vector<vec> found;
    for (int i = 0; i < 3; ++i) {
      g.make(train);
      found.push_back(g.value(w));
    }
    CHECK(g.value<std::int64_t>(step) == std::vector<std::int64_t>{3});
    CHECK(g.value(idle) == vec{1, 1});
    CHECK(g.value(fixed) == vec{3, 3});
    return found;
  }
};

}  // namespace

TEST_CASE("sgd follows its formula") {
  bowl b;
  auto const found = b.trained(sgd{0.5});
  CHECK(found == std::vector<vec>{{2, 1}, {2.5f, 2}, {2.75f, 2.5f}});
}

TEST_CASE("the learning rate may be a value of the graph") {
  bowl b;
  auto const rate = b.g.ops.variable<float>("rate", {}, 0.5, {.trainable = false});
  CHECK(b.trained(sgd{rate * 1.0})[0] == vec{2, 1});
}

TEST_CASE("momentum follows its formula") {
  for (bool const nesterov : {false, true}) {
    bowl b;
    auto const found = b.trained(momentum{0.1, 0.9, nesterov});
    double w[2] = {1, -1}, m[2] = {0, 0};
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 2; ++k) {
        double const g = w[k] - 3;
        m[k] = 0.9 * m[k] + g;
        w[k] -= 0.1 * (nesterov ? g + 0.9 * m[k] : m[k]);
      }
      CHECK(near(found[std::size_t(i)], {float(w[0]), float(w[1])}));
    }
    CHECK(b.g.ops.find("dense/w/Momentum"));
    CHECK(!b.g.ops.find("idle/Momentum"));
  }
}

TEST_CASE("adam follows its formula") {
  bowl b;
  auto const found = b.trained(adam{0.1, 0.9, 0.99, 1e-7});
  double w[2] = {1, -1}, m[2] = {0, 0}, v[2] = {0, 0};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 2; ++k) {
      double const g = w[k] - 3;
      m[k] = 0.9 * m[k] + 0.1 * g;
      v[k] = 0.99 * v[k] + 0.01 * g * g;
      double const rate = 0.1 * std::sqrt(1 - std::pow(0.99, i + 1)) / (1 - std::pow(0.9, i + 1));
      w[k] -= rate * m[k] / (std::sqrt(v[k]) + 1e-7);
    }
    CHECK(near(found[std::size_t(i)], {float(w[0]), float(w[1])}));
  }
  CHECK(near(b.g.run({b.g.ops.find("beta1_power/Read/ReadVariableOp")[0]})[0], {float(std::pow(0.9, 4))}));
  for (char const* slot : {"dense/w/Adam", "dense/w/Adam_1", "beta1_power", "beta2_power"}) CHECK(b.g.ops.find(slot));
}

TEST_CASE("an optimizer without a name or a global step is named as in Python") {
  bowl b;
  CHECK(b.g.ops.minimize(b.loss, sgd{0.5}).name() == "GradientDescent");
  CHECK(b.g.ops.minimize(b.loss, sgd{0.5}).name() == "GradientDescent_1");
  CHECK(b.g.ops.minimize(b.loss, momentum{}).name() == "Momentum");
  CHECK(b.g.ops.minimize(b.loss, adam{}, b.g.ops.global_step()).name() == "Adam");
  CHECK(b.g.ops.find("GradientDescent/update_w/ResourceApplyGradientDescent"));
  CHECK(b.g.ops.status().ok());
}

TEST_CASE("what a saver writes it reads into another graph") {
  std::string const path = (std::filesystem::temp_directory_path() / "tautline_ops_saver").string();
  auto const fill = [](built& g, float with) {
    auto const w = g.ops.variable<float>("w", {2}, with);
    auto const n = g.ops.variable<std::int64_t>("n", {}, int(with));
    auto const l = g.ops.variable<float>("l", {}, with, {.local = true});
    return std::tuple(w, n, l);
  };
  {
    built g;
    auto const [w, n, l] = fill(g, 7);
    auto const saver = g.ops.saver();
    CHECK(g.ops.saver().save.name() == saver.save.name());
    CHECK(saver.filename.name() == "save/Const");
    CHECK(saver.save.name() == "save/control_dependency");
    CHECK(saver.restore.name() == "save/restore_all");
    g.make(g.ops.init());
    auto const told = g.run<std::string>({g.ops.identity(saver.save)}, {{saver.filename, path}});
    CHECK(told == std::vector<std::vector<std::string>>{{path}});
    CHECK(std::filesystem::exists(path + ".index"));
  }
  {
    built g;
    auto const [w, n, l] = fill(g, 1);
    auto const saver = g.ops.saver();
    g.make(g.ops.local_init());
    g.run({}, {{saver.filename, path}}, {saver.restore});
    CHECK(g.code == TF_OK);
    CHECK(g.value(w) == vec{7, 7});
    CHECK(g.value<std::int64_t>(n) == std::vector<std::int64_t>{7});
    CHECK(g.value(l) == vec{1});
  }
  {
    built g;
    auto const other = g.ops.variable<float>("other", {2}, 1);
    g.run({}, {{g.ops.saver().filename, path}}, {g.ops.saver().restore});
    CHECK(g.code == TF_NOT_FOUND);
    CHECK(g.message.find("other") != std::string::npos);
  }
  for (char const* suffix : {".index", ".data-00000-of-00001"}) std::filesystem::remove(path + suffix);
}

TEST_CASE("a data set ends, and begins anew with every session") {
  built g;
  auto& ops = g.ops;
  auto const x = ops.constant<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  auto const label = ops.constant<std::int64_t>({0, 1, 2});
  auto const input = ops.tensor_slices({x, label}).repeat(2).batch(4).iterator("input");
  CHECK(input[0].known_shape() == shape{-1, 2});
  CHECK(input[1].type() == TF_INT64);
  CHECK(input[0].name() == "input");
  auto const init = ops.local_init();
  for (int session = 0; session < 2; ++session) {
    g.make(init);
    CHECK(g.value(input[0]) == vec{1, 2, 3, 4, 5, 6, 1, 2});
    CHECK(g.value<std::int64_t>(input[1]) == std::vector<std::int64_t>{1, 2});
    g.run({input[0]});
    CHECK(g.code == TF_OUT_OF_RANGE);
    g.close();
  }
}

TEST_CASE("data sets are cut, skipped, shuffled and counted") {
  built g;
  auto& ops = g.ops;
  auto const counted = ops.range(10).skip(2).take(4).batch(3, true).iterator();
  auto const shuffled = ops.range(10).shuffle(10, 5).batch(10).iterator();
  auto const endless = ops.range(2).repeat().batch(5).iterator();
  CHECK(counted[0].known_shape() == shape{3});
  g.make(ops.local_init());
  CHECK(g.value<std::int64_t>(counted[0]) == std::vector<std::int64_t>{2, 3, 4});
  g.run({counted[0]});
  CHECK(g.code == TF_OUT_OF_RANGE);
  auto order = g.value<std::int64_t>(shuffled[0]);
  CHECK(!std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  CHECK(order == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(g.value<std::int64_t>(endless[0]) == std::vector<std::int64_t>{0, 1, 0, 1, 0});
  CHECK(g.value<std::int64_t>(endless[0]) == std::vector<std::int64_t>{1, 0, 1, 0, 1});
}

TEST_CASE("random numbers follow their seeds") {
  auto const drawn = [](std::optional<std::int64_t> graph, op_seed own) {
    built g;
    if (graph) g.ops.set_random_seed(*graph);
    return g.value(g.ops.random_normal({4}, {.seed = own}));
  };
  CHECK(drawn({}, 3) == drawn({}, 3));
  CHECK(drawn({}, 3) != drawn({}, 4));
  CHECK(drawn(1, 3) != drawn({}, 3));
  CHECK(drawn(1, {}) == drawn(1, {}));
  CHECK(drawn({}, {}) != drawn({}, {}));
  CHECK(drawn(0, 0) == drawn(0, 0));
  built g;
  auto& ops = g.ops;
  for (float const one : g.value(ops.random_uniform({200}, {.minval = 2, .maxval = 3, .seed = 1}))) {
    CHECK((one >= 2 && one < 3));
  }
  for (float const one : g.value(ops.truncated_normal({200}, {.mean = 1, .stddev = 0.5, .seed = 1}))) {
    CHECK((one >= 0 && one <= 2));
  }
  for (auto const one :
       g.value<std::int64_t>(ops.random_uniform<std::int64_t>({200}, {.minval = 0, .maxval = 5, .seed = 1}))) {
    CHECK((one >= 0 && one < 5));
  }
}

namespace {

struct mistake {
  char const* what;
  void (*make)(scope const&);
  std::vector<std::string> words;
};
std::vector<mistake> const mistakes{
    {"unknown op", [](scope const& o) { o.op("Frobnicate", "f"); }, {"node 'f' (Frobnicate)", "not registered"}},
    {"shapes",
     [](scope const& o) {
       o.matmul(o.zeros<float>({1, 2}), o.zeros<float>({3, 1}), "bad");
     },
     {"node 'bad' (MatMul)", "Dimensions must be equal, but are 2 and 3"}},
    {"types", [](scope const& o) { o.constant(1.f) + o.constant(1); }, {"node 'add' (AddV2)", "DT_FLOAT vs. DT_INT32"}},
    {"name of a node", [](scope const& o) { o.placeholder<float>("a b"); }, {"node 'a b' (Placeholder)", "letters"}},
    {"name of a scope", [](scope const& o) { o.name_scope("-x").no_op("n"); }, {"node '-x/n' (NoOp)", "letters"}},
    {"name in use",
     [](scope const& o) { o.no_op("x"), o.placeholder<float>("x"); },
     {"node 'x' (Placeholder)", "a node of this name"}},
    {"name of a variable in use",
     [](scope const& o) { o.variable<float>("w", {}, 0), o.variable<float>("w", {}, 0); },
     {"node 'w' (VarHandleOp)"}},
    {"inputs", [](scope const& o) { o.op("Relu", "r"); }, {"node 'r' (Relu)", "0 inputs specified of 1"}},
    {"empty input", [](scope const& o) { o.relu(output(), "r"); }, {"node 'r': an input is empty"}},
    {"type of an attribute",
     [](scope const& o) {
       o.op("Sum", "s", {o.constant(1.f), o.constant(0)}, {{"keep_dims", 1}});
     },
     {"node 's' (Sum)", "'keep_dims'"}},
    {"name of an attribute",
     [](scope const& o) {
       o.op("Relu", "r", {o.constant(1.f)}, {{"alpha", 1}});
     },
     {"node 'r' (Relu)", "no attribute 'alpha'"}},
    {"list",
     [](scope const& o) {
       o.op("AddN", "s", {o.constant(1.f), o.constant(1.f)});
     },
     {"node 's' (AddN)", "expected list"}},
    {"elements",
     [](scope const& o) {
       o.constant(constant_value(vec{1, 2, 3}, {2, 2}), "k");
     },
     {"node 'k' (Const)", "as many elements"}},
    {"output", [](scope const& o) { (void)o.no_op("n")[0]; }, {"node 'n' has no output 0"}},
    {"group", [](scope const& o) { o.group({operation()}, "g"); }, {"node 'g' (NoOp)", "empty"}},
    {"control", [](scope const& o) { (void)o.control_dependencies({operation()}); }, {"control_dependencies", "empty"}},
    {"no derivative of an op",
     [](scope const& o) {
       auto const x = o.placeholder<float>("x", {2});
       (void)o.gradient(o.op("Cumprod", "", {x, o.constant(0)})[0], x);
     },
     {"gradients: ", "Cumprod"}},
    {"no way back",
     [](scope const& o) {
       auto const x = o.placeholder<float>("x", {2});
       (void)o.gradient(o.cast<float>(o.argmax(x, 0)), x);
     },
     {"gradients: nothing depends on 'x'"}},
    {"shape of an initial value",
     [](scope const& o) {
       o.variable<float>("w", {2}, vec{1, 2, 3});
     },
     {"node 'w'", "another shape"}},
    {"shape of a variable",
     [](scope const& o) { o.variable<float>("w", {-1}, 0); },
     {"node 'w' (VarHandleOp)", "must be known"}},
    {"type of an initial value",
     [](scope const& o) {
       o.variable<float>("w", {2}, std::vector{1, 2});
     },
     {"node 'w/Assign'"}},
    {"nothing to train", [](scope const& o) { o.minimize(o.constant(1.f), sgd{}); }, {"no trainable variables"}},
    {"nothing that trains",
     [](scope const& o) { o.variable<float>("w", {2}, 0), o.minimize(o.constant(1.f, "c"), sgd{}); },
     {"'c' depends on no trainable variable"}},
    {"slices", [](scope const& o) { (void)o.tensor_slices({o.constant(1.f, "c")}); }, {"'c' is a scalar"}},
    {"nothing to save", [](scope const& o) { (void)o.saver(); }, {"'save/SaveV2'", "no variables"}},
};

}  // namespace

TEST_CASE("the first mistake is kept with the name of the node, and what follows does no harm") {
  for (auto const& [what, make, words] : mistakes) {
    INFO(std::string(what));
    built g;
    make(g.ops);
    auto const status = g.ops.status();
    CHECK(status.kind == tautline::error_kind::invalid_argument);
    std::string const message = status.message;
    for (auto const& word : words) {
      CHECK_MESSAGE(message.find(word) != std::string::npos, message);
    }
    auto const x = g.ops.placeholder<float>("later", {2});
    CHECK(!x);
    auto const w = g.ops.variable<float>("later_w", {2}, 0);
    auto const loss = g.ops.reduce_sum(g.ops.square(2 * (w - x) / 3 + 1));
    CHECK(!g.ops.minimize(loss, adam{}, g.ops.global_step()));
    CHECK(!g.ops.init());
    CHECK(!g.ops.saver().save);
    CHECK(!g.ops.tensor_slices({x}).repeat().shuffle(3, 1).batch(2).iterator()[0]);
    CHECK(!g.ops.group({g.ops.no_op()}));
    CHECK(!g.ops.name_scope("s").control_dependencies({w}).gradient(loss, w));
    CHECK(x.name().empty());
    CHECK(message == g.ops.status().message);
  }
}

TEST_CASE("a value of another graph is refused") {
  built g, other;
  auto const x = g.ops.constant(1.f), y = other.ops.constant(2.f, "theirs");
  CHECK(!(x + y));
  CHECK(std::string(g.ops.status().message).find("input 'theirs' is of another graph") != std::string::npos);
  CHECK(other.ops.status().ok());
}
