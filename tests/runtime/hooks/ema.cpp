// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <tautline/hooks/basic_evaluator.hpp>
#include <tautline/hooks/ema.hpp>
#include <tautline/hooks/ema_on_heap.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "memory_store.hpp"
#include "support.hpp"

using namespace support;
using namespace tautline;
using support::target;

namespace {

/// w counts the steps; b is an array of doubles; n is no floating-point number.
auto counting() {
  return static_graph{}
      .variable<"w">(0.0F)
      .variable<"n">(0)
      .variable<"b">(std::array<double, 2>{0, 10})
      .op<"loss", "w">([](float w) { return w; })
      .update<"train", "w", "n", "b">([](float& w, int& n, std::array<double, 2>& b) {
        w += 1;
        ++n;
        b[0] += 2;
        b[1] -= 1;
      });
}

struct vetoer {
  auto before_run(auto&) { return fetch<"loss">; }
  void gate(auto& ctx, auto&) const {
    if (ctx.step() == 2) ctx.veto();
  }
};

}  // namespace

TEST_CASE("averages begin as the variables are, and follow after each step") {
  auto graph = counting();
  auto session = monitored(graph, ema(graph, {.decay = 0.5}));
  (void)session.run(target<"train">);
  auto& hook = session.hook<decltype(ema(graph))>();
  CHECK(hook.get<"w">() == 0.5F);
  CHECK(hook.get<"b">() == std::array<double, 2>{1, 9.5});
  (void)session.run(target<"train">);
  CHECK(hook.get<"w">() == 1.25F);
  CHECK(hook.updates() == 2);
  CHECK(session.raw()[fetch<"w">] == 2);
}

TEST_CASE("named variables only, every N steps") {
  auto graph = counting();
  auto session = monitored(graph, named<"average">(ema<"b">(graph, {.decay = 0.5}, every_steps{2})));
  (void)session.run_steps(3, target<"train">);
  CHECK(session.hook<"average">().updates() == 1);
  CHECK(session.hook<"average">().get<"b">()[0] == 2);  // between 0 and 4
  (void)session.run_steps(1, target<"train">);
  CHECK(session.hook<"average">().updates() == 2);
}

TEST_CASE("with the correction there is no trace of the start: it is the weighted mean of what was seen") {
  auto graph = counting();
  auto session = monitored(graph, named<"average">(ema<"w", "b">(graph, {.decay = 0.9, .bias_correction = true})));
  double weighted = 0, weights = 0;
  for (int step = 1; step <= 20; ++step) {
    (void)session.run(target<"train">);
    weighted = 0.9 * weighted + 0.1 * (10 - step);
    weights = 0.9 * weights + 0.1;
    CHECK(session.hook<"average">().get<"b">()[1] == doctest::Approx(weighted / weights));
    if (step == 1) CHECK(session.hook<"average">().get<"w">() == 1);
  }
}

TEST_CASE("with_averages exchanges bit for bit, and back on every way out") {
  auto graph = counting();
  auto session = monitored(graph, ema(graph, {.decay = 0.9}));
  (void)session.run_steps(5, target<"train">);
  float const average = session.hook<decltype(ema(graph))>().get<"w">();
  float const seen = with_averages(session, [&] { return session.evaluate(fetch<"loss">)[fetch<"loss">]; });
  CHECK(seen == average);
  CHECK(session.raw()[fetch<"w">] == 5);
  CHECK(session.hook<decltype(ema(graph))>().get<"w">() == average);
#if TAUTLINE_EXCEPTIONS
  CHECK(outcome_of([&] { with_averages(session, [] { throw std::runtime_error("in the middle"); }); }) == "threw in the middle");
  CHECK(session.raw()[fetch<"w">] == 5);
#endif
}

TEST_CASE("an evaluator on the averages, in a run and at the end; the training notices nothing") {
  std::vector<float> const data{1};
  auto graph = counting();
  auto averages = ema(graph, {.decay = 0.5});
  auto hook = on_averages(averages, basic_evaluator{every_steps{2} | at_end, datasets{dataset<"d">([&]() -> auto const& { return data; })},
                                                    metrics<"loss">{}, [](float) { return run_args{}; }});
  static_assert(std::is_same_v<decltype(hook)::category, evaluating>);
  auto session = monitored(graph, std::ref(hook), std::ref(averages));  // the relation brings them into order
  (void)session.run_steps(2, target<"train">);
  CHECK(hook.get<"d", "loss">() == 1.25);
  (void)session.run_steps(1, target<"train">);
  CHECK(hook.evaluations() == 1);
  CHECK(session.raw()[fetch<"w">] == 3);
  session.close();
  CHECK(hook.evaluations() == 2);
  CHECK(hook.get<"d", "loss">() == 2.125);
  CHECK(averages.get<"w">() == 2.125F);
}

TEST_CASE("a resumed training has the averages that it would have had, bit for bit") {
  ema_options const how{.decay = 0.97, .bias_correction = true};
  auto graph = counting();
  auto reference = monitored(counting(), named<"average">(ema(graph, how)));
  (void)reference.run_steps(9, target<"train">);
  memory_store store;
  {
    auto session = monitored(counting(), named<"average">(ema(graph, how)), memory_saver{&store, every_steps{5}});
    (void)session.run_steps(7, target<"train">);
  }
  CHECK(store.get<float>("hook/average/averages/w") > 0);
  CHECK(store.values.at("hook/average/averages/b").bytes.size() == 16);
  auto session = monitored(counting(), options{restore_from{store}}, named<"average">(ema(graph, how)));
  (void)session.run_steps(4, target<"train">);
  CHECK(session.hook<"average">().updates() == 9);
  CHECK(session.hook<"average">().get<"w">() == reference.hook<"average">().get<"w">());
  CHECK(session.hook<"average">().get<"b">() == reference.hook<"average">().get<"b">());
}

TEST_CASE("begin forgets") {
  auto graph = counting();
  auto hook = ema(graph, {.decay = 0.5});
  for (int i = 0; i < 2; ++i) {
    auto session = monitored(counting(), std::ref(hook));
    (void)session.run_steps(1, target<"train">);
    CHECK(hook.get<"w">() == 0.5F);
    CHECK(hook.updates() == 1);
  }
}

TEST_CASE("what is not finite does not get into the averages") {
  auto graph = static_graph{}.variable<"w">(0.0).variable<"v">(1.0F).update<"train", "w">([n = 0](double& w) mutable {
    ++n;
    w = n == 2 ? std::numeric_limits<double>::quiet_NaN() : n == 3 ? std::numeric_limits<double>::infinity() : 1;
  });
  auto hook = ema(graph, {.decay = 0.5});
  auto session = monitored(graph, std::ref(hook));
  (void)session.run_steps(4, target<"train">);
  CHECK(hook.get<"w">() == 0.75);
  CHECK(hook.updates() == 2);
  CHECK(hook.skipped() == 2);
}

TEST_CASE("a vetoed run does not count") {
  auto graph = counting();
  auto hook = ema<"w">(graph, {.decay = 0.5});
  auto session = monitored(graph, vetoer{}, std::ref(hook));
  (void)session.run_steps(2, target<"train">);
  CHECK(hook.updates() == 1);
  CHECK(hook.get<"w">() == 0.5F);
}

TEST_CASE("variables that have their numbers on the heap; another size is refused") {
  auto make = [](std::size_t size) {
    return static_graph{}.variable<"w">(std::vector<float>(size, 1.0F)).update<"train", "w">([](std::vector<float>& w) {
      for (float& x : w) x += 1;
    });
  };
  auto graph = make(3);
  auto hook = ema(graph, {.decay = 0.5});
  {
    auto session = monitored(make(3), std::ref(hook));
    (void)session.run_steps(1, target<"train">);
    CHECK(hook.get<"w">() == std::vector<float>{1.5F, 1.5F, 1.5F});
  }
  auto session = try_monitored(make(4), std::ref(hook));
  CHECK(session.status().kind == error_kind::invalid_argument);
}

TEST_CASE("a decay that makes no sense is refused") {
  auto graph = counting();
  for (double wrong : {-0.1, 1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    auto session = try_monitored(graph, ema(graph, {.decay = wrong}));
    CHECK(session.status().kind == error_kind::invalid_argument);
  }
}

TEST_CASE("it is for loops that must not wait, and lies in the session") {
  auto graph = counting();
  auto session = monitored(graph, options{real_time{}}, ema(graph));
  (void)session.run(target<"train">);
  static_assert(sizeof(ema<"w">(graph)) == 56);
}

// --- where variables are known at run time only ---------------------------------------------------------------------

TEST_CASE("on the heap: the same averages as the typed ones") {
  auto graph = counting();
  ema_options const how{.decay = 0.97, .bias_correction = true};
  auto session = monitored(graph, named<"typed">(ema(graph, how)), ema_on_heap<>{how});
  (void)session.run_steps(9, target<"train">);
  auto& hook = session.hook<ema_on_heap<>>();
  CHECK(hook.updates() == 9);
  REQUIRE(hook.singles().size() == 1);
  REQUIRE(hook.doubles().size() == 2);
  CHECK(hook.singles()[0] == session.hook<"typed">().get<"w">());
  CHECK(hook.doubles()[1] == session.hook<"typed">().get<"b">()[1]);
}

TEST_CASE("on the heap: resumed bit for bit, exchanged bit for bit") {
  ema_options const how{.decay = 0.97};
  auto reference = monitored(counting(), ema_on_heap<>{how});
  (void)reference.run_steps(9, target<"train">);
  memory_store store;
  {
    auto session = monitored(counting(), ema_on_heap<>{how}, memory_saver{&store, every_steps{5}});
    (void)session.run_steps(7, target<"train">);
  }
  auto session = monitored(counting(), options{restore_from{store}}, ema_on_heap<>{how});
  (void)session.run_steps(4, target<"train">);
  auto& hook = session.hook<ema_on_heap<>>();
  CHECK(hook.singles() == reference.hook<ema_on_heap<>>().singles());
  CHECK(hook.doubles() == reference.hook<ema_on_heap<>>().doubles());
  CHECK(with_averages(session, [&] { return session.evaluate(fetch<"loss">)[fetch<"loss">]; }) == hook.singles()[0]);
  CHECK(session.raw()[fetch<"w">] == 9);
  CHECK(hook.singles() == reference.hook<ema_on_heap<>>().singles());
}

TEST_CASE("on the heap: named ones only; a name that there is not, a decay without sense and other sizes are refused") {
  {
    auto session = monitored(counting(), ema_on_heap<>{{.decay = 0.5}, {"b"}});
    (void)session.run_steps(1, target<"train">);
    CHECK(session.hook<ema_on_heap<>>().singles().empty());
    CHECK(session.hook<ema_on_heap<>>().doubles() == std::vector<double>{1, 9.5});
  }
  CHECK(try_monitored(counting(), ema_on_heap<>{{}, {"c"}}).status().kind == error_kind::invalid_argument);
  CHECK(try_monitored(counting(), ema_on_heap<>{{}, {"n"}}).status().kind == error_kind::invalid_argument);
  CHECK(try_monitored(counting(), ema_on_heap<>{{.decay = 1}}).status().kind == error_kind::invalid_argument);
  memory_store store;
  {
    auto session = monitored(counting(), ema_on_heap<>{}, memory_saver{&store, every_steps{1}});
    (void)session.run_steps(1, target<"train">);
  }
  auto session = try_monitored(counting(), options{restore_from{store}}, ema_on_heap<>{{}, {"b"}});
  CHECK(session.status().kind == error_kind::invalid_argument);
}

TEST_CASE("on the heap: what is not finite is left out, and begin forgets") {
  ema_on_heap<> hook{{.decay = 0.5}};
  for (int i = 0; i < 2; ++i) {
    auto session = monitored(static_graph{}.variable<"w">(0.0).update<"train", "w">([n = 0](double& w) mutable {
      w = ++n == 2 ? std::numeric_limits<double>::quiet_NaN() : 1;
    }), std::ref(hook));
    (void)session.run_steps(3, target<"train">);
    CHECK(hook.doubles() == std::vector<double>{0.75});
    CHECK(hook.skipped() == 1);
  }
}
