// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "support.hpp"

#include <tautline/sessions/static_graph.hpp>
#include <tautline/sessions/step_function.hpp>

// The sessions that come with the core: static_graph, step_function, pushed_values.

namespace {

using namespace support;
using tautline::feed;
using tautline::monitored;
using tautline::named_value;
using tautline::named_values;
using tautline::pushed_values;
using tautline::static_graph;
using tautline::step_function;
using tautline::value;

// --- static_graph ----------------------------------------------------------------------------------------------------

TEST_CASE("nodes run in the order in which they were added, and only those that are needed") {
  lines order;
  auto const note = [&order](char const* name) {
    order.push_back(name);
    return 1.0f;
  };
  auto session = monitored(static_graph{}
                               .op<"a">([=] { return note("a"); })
                               .op<"b">([=] { return note("b"); })
                               .op<"c", "a">([=](float) { return note("c"); })
                               .op<"d", "c", "b">([=](float, float) { return note("d"); })
                               .op<"e">([=] { return note("e"); }),
                           stop_after{100});
  (void)session.run(fetch<"d">);
  CHECK(joined(order) == "a\nb\nc\nd\n");
  order.clear();
  (void)session.run(fetch<"e">, target<"c">);
  CHECK(joined(order) == "a\nc\ne\n");
  order.clear();
  (void)session.run();
  CHECK(order.empty());
}

TEST_CASE("sources are asked first, so a run that meets the end changes nothing") {
  int updates = 0;
  int asked = 0;
  auto session = monitored(static_graph{}
                               .variable<"w">(0)
                               .update<"count", "w">([&](int& w) {
                                 ++updates;
                                 ++w;
                               })
                               .source<"x">(0,
                                            [&](int& x) {
                                              x = 10 * ++asked;
                                              return asked <= 2;
                                            })
                               .op<"seen", "w", "x">([](int w, int x) { return w + x; }),
                           stop_after{100});
  CHECK(session.run(target<"count">, fetch<"seen">)[fetch<"seen">] == 11);
  CHECK(session.run(target<"count">));  // needs no input, and takes none
  CHECK(asked == 1);
  CHECK(session.run(target<"count">, fetch<"seen">)[fetch<"seen">] == 23);
  auto const last = session.run(target<"count">, fetch<"seen">);
  CHECK(last.end_of_input());
  CHECK(updates == 3);
  CHECK(session.raw()[fetch<"w">] == 3);
  CHECK(session.completed_steps() == 3);
}

TEST_CASE("an update changes the variables among its inputs, and nothing else may be changed") {
  auto session = monitored(static_graph{}
                               .variable<"w">(1.0f)
                               .placeholder<"rate">(0.5f)
                               .op<"loss", "w">([](float w) { return w * w; })
                               .update<"train", "w", "rate", "loss">([](auto& w, auto& rate, auto& loss) {
                                 CHECK_FALSE(std::is_const_v<std::remove_reference_t<decltype(w)>>);
                                 CHECK(std::is_const_v<std::remove_reference_t<decltype(rate)>>);
                                 CHECK(std::is_const_v<std::remove_reference_t<decltype(loss)>>);
                                 w -= rate * 2 * w;
                                 return w;
                               }),
                           stop_after{100});
  auto const result = session.run(fetch<"train">, fetch<"loss">);
  CHECK(result[fetch<"train">] == 0.0f);  // what the update returned
  CHECK(result[fetch<"loss">] == 1.0f);   // computed before it
  CHECK(session.raw()[fetch<"w">] == 0.0f);
}

TEST_CASE("an op in place fills its storage, which stays where it is") {
  using row = std::array<int, 20>;
  auto session = monitored(static_graph{}.variable<"k">(3).op<"row", "k">(row{},
                                                                          [](row& out, int k) {
                                                                            for (int& x : out) x += k;
                                                                          }),
                           stop_after{100});
  auto const* const address = &session.raw()[fetch<"row">];
  CHECK(session.run(fetch<"row">)[fetch<"row">][19] == 3);
  CHECK(session.run(fetch<"row">)[fetch<"row">][19] == 6);
  CHECK(&session.raw()[fetch<"row">] == address);
}

TEST_CASE("with a step target only runs that have it are steps") {
  auto graph = static_graph{}.variable<"w">(0).update<"train", "w">([](int& w) { ++w; }).step_target<"train">();
  auto session = monitored(graph, stop_after{5});
  CHECK(session.run(fetch<"w">));
  CHECK(session.completed_steps() == 0);
  CHECK(session.run(target<"train">));
  CHECK(session.completed_steps() == 1);
  CHECK(session.run_steps(3, fetch<"w">).steps == 1);
  CHECK(session.run_to_completion(target<"train">).steps == 5);
  CHECK(session.raw()[fetch<"w">] == 5);
}

struct every_second {
  tautline::every_steps trigger{2};
  std::vector<step_number>* acted;
  void after_run(auto& ctx) const {
    if (ctx.due()) acted->push_back(ctx.step());
  }
};

TEST_CASE("a trigger is not due in a run that is no step") {
  std::vector<step_number> acted;
  auto graph = static_graph{}.variable<"w">(0).update<"train", "w">([](int& w) { ++w; }).step_target<"train">();
  auto session = monitored(graph, every_second{{2}, &acted});
  (void)session.run(target<"train">);
  (void)session.run(fetch<"w">);
  CHECK(acted.empty());
  (void)session.run(target<"train">);
  (void)session.run(fetch<"w">);
  (void)session.run(fetch<"w">);
  CHECK(acted == std::vector<step_number>{2});
  (void)session.run_steps(2, target<"train">);
  CHECK(acted == std::vector<step_number>{2, 4});
}

/// Wants the step target in each third run.
struct sometimes_trains {
  int run = 0;
  std::vector<step_number>* seen;
  auto before_run(auto&) { return tautline::ask_if(++run % 3 == 0, target<"train">); }
  void after_run(auto& ctx) const { seen->push_back(ctx.step()); }
};

TEST_CASE("a run becomes a step, too, by a hook that names the step target") {
  std::vector<step_number> acted;
  std::vector<step_number> seen;
  auto graph = static_graph{}.variable<"w">(0).update<"train", "w">([](int& w) { ++w; }).step_target<"train">();
  auto session = monitored(graph, sometimes_trains{0, &seen});
  CHECK(session.run_steps(7).steps == 2);
  CHECK(seen == std::vector<step_number>{0, 0, 1, 1, 1, 2, 2});
}

struct adds_scaled {
  auto begin(auto graph) const { return std::move(graph).template op<"scaled", "w">(times_ten{}); }
  struct times_ten {
    float operator()(float w) const { return 10 * w; }
  };
};
struct adds_squared {
  float* seen;
  auto begin(auto&& graph, life&) const {
    return std::move(graph).template op<"squared", "scaled">([](float x) { return x * x; });
  }
  auto before_run(auto&) const { return fetch<"squared">; }
  void after_run(auto&, auto const& values) const { *seen = values[fetch<"squared">]; }
};

TEST_CASE("a hook's nodes are there for the hooks behind it, and for the caller") {
  float seen = 0;
  auto session = monitored(static_graph{}.variable<"w">(2.0f), adds_scaled{}, adds_squared{&seen});
  CHECK(session.run(fetch<"scaled">)[fetch<"scaled">] == 20.0f);
  CHECK(seen == 400.0f);
}

TEST_CASE("a second begin changes nothing in the graph: the same node twice is the same type") {
  auto graph = static_graph{}.variable<"w">(2.0f);
  adds_scaled hook;
  auto once = hook.begin(graph);
  auto twice = hook.begin(once);
  CHECK(std::is_same_v<decltype(once), decltype(twice)>);
  CHECK_FALSE(std::is_same_v<decltype(once), decltype(graph)>);
  auto session = monitored(twice, adds_scaled{});
  CHECK(session.run(fetch<"scaled">)[fetch<"scaled">] == 20.0f);
}

TEST_CASE("a graph that was passed by name is copied, one session's training does not reach the other's") {
  auto graph = static_graph{}.variable<"w">(0).update<"train", "w">([](int& w) { ++w; });
  auto first = monitored(graph, stop_after{3});
  (void)first.run_to_completion(target<"train">);
  auto second = monitored(graph, stop_after{3});
  CHECK(second.raw()[fetch<"w">] == 0);
  CHECK(first.raw()[fetch<"w">] == 3);
}

TEST_CASE("each_variable visits the variables, and nothing else, in order and for writing") {
  auto session = monitored(static_graph{}
                               .variable<"w">(1.0f)
                               .placeholder<"rate">(0.1f)
                               .op<"loss", "w">([](float w) { return w; })
                               .variable<"n">(7),
                           stop_after{1});
  lines seen;
  session.raw().backend().each_variable([&](char const* name, auto& variable) {
    seen.push_back(std::string(name) + "=" + number(static_cast<double>(variable)));
    variable = 5;
  });
  CHECK(joined(seen) == "w=1\nn=7\n");
  CHECK(session.raw()[fetch<"w">] == 5.0f);
  CHECK(session.raw()[fetch<"n">] == 5);
}

TEST_CASE("a graph's kernels may hold what only moves") {
  struct only_moves {
    int held = 3;
    only_moves() = default;
    only_moves(only_moves&&) = default;
    only_moves& operator=(only_moves&&) = default;
    int operator()() const { return held; }
  };
  auto session = monitored(static_graph{}.op<"x">(only_moves{}), stop_after{1});
  CHECK(session.run(fetch<"x">)[fetch<"x">] == 3);
}

// --- step_function ---------------------------------------------------------------------------------------------------

TEST_CASE("a step function may return values, one value, an optional, a bool, or nothing") {
  int calls = 0;
  SUBCASE("values") {
    auto session =
        monitored(step_function([&] { return named_values{value<"loss">(0.5f), value<"n">(++calls)}; }), stop_after{3});
    CHECK(session.run(fetch<"n">)[fetch<"n">] == 1);
    CHECK(session.run(fetch<"loss">)[fetch<"loss">] == 0.5f);
    CHECK(session.run_to_completion().steps == 3);
  }
  SUBCASE("one value") {
    auto session = monitored(step_function([&] { return value<"n">(++calls); }), stop_after{3});
    CHECK(session.run(fetch<"n">)[fetch<"n">] == 1);
  }
  SUBCASE("an optional") {
    auto session = monitored(step_function([&] {
                               return ++calls <= 2 ? std::optional{named_values{value<"n">(calls)}} : std::nullopt;
                             }),
                             stop_after{30});
    CHECK(session.run(fetch<"n">)[fetch<"n">] == 1);
    auto const done = session.run_to_completion();
    CHECK(done.steps == 2);
    CHECK(done.stop.source == tautline::stop_source::end_of_input);
  }
  SUBCASE("a bool") {
    auto session = monitored(step_function([&] { return ++calls <= 4; }), stop_after{30});
    CHECK(session.run_to_completion().steps == 4);
    CHECK(calls == 5);
  }
  SUBCASE("nothing") {
    auto session = monitored(step_function([&] { ++calls; }), stop_after{3});
    CHECK(session.run_to_completion().steps == 3);
    CHECK(calls == 3);
  }
}

struct half_asker {
  auto before_run(auto& ctx) const { return tautline::ask_if(ctx.step() == 2, fetch<"slow">, feed<"rate">(0.25f)); }
  void after_run(auto&, auto const& values) const { CHECK(values[fetch<"slow">] == 1.0f); }
};

TEST_CASE("a step function sees what is wanted and what is fed") {
  lines seen;
  auto session = monitored(step_function([&](auto& inputs) {
                             seen.push_back(std::string(inputs.wants(fetch<"slow">) ? "slow" : "-") + " " +
                                            (inputs.wants(target<"train">) ? "train" : "-") + " " +
                                            number(inputs.fed_or(feed<"rate">, 0.5f)));
                             return named_values{value<"slow">(1.0f)};
                           }),
                           half_asker{});
  (void)session.run(target<"train">);
  (void)session.run(target<"train">);
  (void)session.run(fetch<"slow">);
  CHECK(joined(seen) == "- train 0.5\nslow train 0.25\nslow - 0.5\n");
}

TEST_CASE("an exception of a step function is an error of the session's run, and recovered as one") {
  int calls = 0;
  auto session = monitored(step_function([&] {
                             if (++calls == 2) throw tautline::unavailable_error("gone");
                             if (calls == 4) throw std::runtime_error("boom");
                           }),
                           stop_after{30});
  CHECK_THROWS_WITH((void)session.run_to_completion(), "boom");
  CHECK(session.completed_steps() == 2);
  CHECK(session.status().where == callback::run);
}

// --- pushed_values ---------------------------------------------------------------------------------------------------

struct loss_asker {
  lines* seen;
  auto before_run(auto& ctx) const { return tautline::ask_if(ctx.step() % 2 == 0, fetch<"loss">); }
  void after_run(auto& ctx, auto const& values) const {
    seen->push_back(number(ctx.step()) + " loss=" + number(values[fetch<"loss">]));
  }
  void end(auto&) const { seen->push_back("end"); }
};

TEST_CASE("a loop that stays where it is pushes its values") {
  lines seen;
  int wanted = 0;
  {
    auto session = monitored(pushed_values<named_value<"loss", float>, named_value<"n", int>>{}, loss_asker{&seen},
                             stop_after{4});
    int n = 0;
    while (!session.should_stop()) {
      (void)session.step([&](auto& values) {
        if (values.template wants<"loss">()) {
          ++wanted;
          values.template set<"loss">(static_cast<float>(n) / 2);
        }
        values.template set<"n">(++n);
      });
    }
    CHECK(session.raw()[fetch<"n">] == 4);
  }
  CHECK(joined(seen) == "2 loss=0.5\n4 loss=1.5\nend\n");
  CHECK(wanted == 2);
}

TEST_CASE("a pushed body may say that the input has ended, and may fail") {
  auto session = monitored(pushed_values<named_value<"loss", float>>{}, stop_after{9});
  CHECK(session.step([](auto&) {}));
  SUBCASE("the end") {
    CHECK(session.step([](auto& values) { values.end_of_input(); }).end_of_input());
    CHECK(session.should_stop());
    CHECK_FALSE(session.status());
  }
  SUBCASE("an error") {
    CHECK_THROWS_WITH((void)session.step([](auto&) { throw std::runtime_error("boom"); }), "boom");
    CHECK(session.status().where == callback::run);
    CHECK_FALSE(session.is_open());
  }
  SUBCASE("after a stop") {
    session.request_stop();
    CHECK_THROWS_AS((void)session.step([](auto&) { FAIL("called"); }), tautline::run_after_stop_error);
  }
}

TEST_CASE("a session over pushed values has nothing to run by itself") {
  auto session = monitored(pushed_values<named_value<"loss", float>>{}, stop_after{9});
  CHECK(session.step([](auto&) {}));
  CHECK_THROWS_AS((void)session.run(), tautline::invalid_argument_error);
}

}  // namespace
