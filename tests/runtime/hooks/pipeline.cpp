// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"

#include <tautline/hooks/pipeline.hpp>
#include <tautline/sessions/static_graph.hpp>
#include <tautline/sessions/step_function.hpp>

// Pipelines act at the same steps, with the same values, as the statements do that they stand for.

namespace {

using namespace tautline;
using support::scripted;
using support::stop_after;
using support::world;

/// Steps at which something came out, with the value: "2:0.5 4:0.25".
struct taken {
  std::string text;
  auto at() {
    return call([this](auto& ctx, auto const& value) {
      text += (text.empty() ? "" : " ") + std::to_string(ctx.step()) + ":" + support::number(static_cast<double>(value));
    });
  }
};

/// What a pipeline gives in `runs` runs of which the k-th has the value `values(k)`.
template <class Make>
std::string play(Make make, std::function<double(long)> values, step_number runs, step_number from = 0) {
  world of;
  of.first_step = from;
  taken out;
  auto session = monitored(scripted(of, std::move(values)), make(out), stop_after{from + runs});
  (void)session.run_to_completion();
  session.close();
  return out.text;
}
double itself(long run) { return static_cast<double>(run); }
double nan_at_three(long run) { return run == 3 ? std::nan("") : 1.0 / static_cast<double>(run); }

TEST_CASE("without a trigger every run's value goes through") {
  CHECK(play([](taken& out) { return observe<"loss">() | out.at(); }, itself, 3) == "1:1 2:2 3:3");
}

TEST_CASE("a trigger in front: values are asked for where it fires, only") {
  world of;
  taken out;
  auto session = monitored(scripted(of, itself), observe<"loss">() | every_steps{3} | out.at(), stop_after{7});
  (void)session.run_to_completion();
  CHECK(out.text == "3:3 6:6");
  CHECK(support::count(of.trace, "run 3 loss") == 1);
  CHECK(support::count(of.trace, "run 4") == 1);
}

TEST_CASE("a trigger further back: values of every run, let through where it fires") {
  CHECK(play([](taken& out) { return observe<"loss">() | count() | every_steps{3} | out.at(); }, itself, 7) == "3:3 6:6");
  CHECK(play([](taken& out) { return observe<"loss">() | every_steps{3} | count() | out.at(); }, itself, 7) == "3:1 6:2");
}

TEST_CASE("triggers of every kind, and resumed in a period") {
  auto const with = [](auto trigger) { return [=](taken& out) { return observe<"loss">() | trigger | out.at(); }; };
  CHECK(play(with(at_steps{2, 5}), itself, 6) == "2:2 5:5");
  CHECK(play(with(once), itself, 3) == "1:1");
  CHECK(play(with(never), itself, 3).empty());
  CHECK(play(with(every_steps{2} & after{3}), itself, 6) == "4:4 6:6");
  CHECK(play(with(any_trigger(every_steps{2})), itself, 5) == "2:2 4:4");
  CHECK(play(with(every_steps{5}), itself, 6, 7) == "10:3");
}

TEST_CASE("at_end shows the last run's value, unless that step was handled") {
  auto const with = [](auto trigger) { return [=](taken& out) { return observe<"loss">() | trigger | out.at(); }; };
  CHECK(play(with(every_steps{2} | at_end), itself, 5) == "2:2 4:4 5:5");
  CHECK(play(with(every_steps{2} | at_end), itself, 4) == "2:2 4:4");
  CHECK(play(with(at_end), itself, 3) == "3:3");
  CHECK(play(with(any_trigger(every_steps{2} | at_end)), itself, 5) == "2:2 4:4 5:5");
  CHECK(play([](taken& out) { return observe<"loss">() | where(below(4.0)) | (every_steps{2} | at_end) | out.at(); },
             itself, 3) == "2:2 3:3");
  // nothing reached the trigger in the last run
  CHECK(play([](taken& out) { return observe<"loss">() | where(below(4.0)) | (every_steps{2} | at_end) | out.at(); },
             itself, 5) == "2:2");
}

TEST_CASE("at_end keeps the types: what comes in end is what comes in after_run") {
  auto graph = static_graph{}.variable<"n">(std::int64_t{1} << 60).variable<"w">(0.5F).update<"train", "n">(
      [](std::int64_t& n) { ++n; });
  std::vector<std::int64_t> seen;
  {
    auto session = monitored(graph, observe<"n", "w">() | at_end | call([&](std::int64_t const& n, float const&) {
                                      seen.push_back(n);
                                    }));
    (void)session.run_steps(3, target<"train">);
  }
  CHECK(seen == std::vector<std::int64_t>{(std::int64_t{1} << 60) + 3});
}

TEST_CASE("each stage hands on what it says") {
  CHECK(play([](taken& out) { return observe<"loss">() | transform([](double v) { return 10 * v; }) | out.at(); }, itself,
             2) == "1:10 2:20");
  CHECK(play([](taken& out) { return observe<"loss">() | where(above(2.0)) | out.at(); }, itself, 4) == "3:3 4:4");
  CHECK(play([](taken& out) { return observe<"loss">() | smooth(0.5) | out.at(); }, itself, 3) == "1:1 2:1.5 3:2.25");
  CHECK(play([](taken& out) { return observe<"loss">() | smooth(0.0) | out.at(); }, itself, 3) == "1:1 2:2 3:3");
  CHECK(play([](taken& out) { return observe<"loss">() | transform([](double v) { return v * v; }) | delta() | out.at(); },
             itself, 4) == "2:3 3:5 4:7");
  CHECK(play([](taken& out) { return observe<"loss">() | count() | out.at(); }, itself, 3) == "1:1 2:2 3:3");
  CHECK(play([](taken& out) {
          return observe<"loss">() | window<3>([](auto const& w) { return 100 * w.oldest() + 10 * w[1] + w.newest(); }) |
                 out.at();
        }, itself, 5) == "3:123 4:234 5:345");
  CHECK(play([](taken& out) {
          return observe<"loss">() | window<4>([](auto const& w) { return w.mean() + w.highest() - w.lowest(); }) | out.at();
        }, itself, 5) == "4:5.5 5:6.5");
}

TEST_CASE("for_times wants them in a row, counted over the values that come to it") {
  auto const low_at = [](std::string steps) {
    return [=](long run) { return steps.find(static_cast<char>('0' + run)) != std::string::npos ? 0.0 : 1.0; };
  };
  auto const twice = [](taken& out) { return observe<"loss">() | where(below(0.5)) | for_times(2) | out.at(); };
  CHECK(play(twice, low_at("1345"), 7) == "4:0 5:0");
  CHECK(play(twice, low_at("1357"), 9).empty());
  // a run at which the trigger does not fire is no gap
  CHECK(play([](taken& out) { return observe<"loss">() | every_steps{2} | where(below(0.5)) | for_times(2) | out.at(); },
             low_at("2468"), 9) == "4:0 6:0 8:0");
  CHECK(play([](taken& out) { return observe<"loss">() | where(below(0.5)) | every_steps{2} | for_times(2) | out.at(); },
             low_at("268"), 9) == "8:0");
  // further stages between them pass the gap on
  CHECK(play([](taken& out) { return observe<"loss">() | where(below(0.5)) | tee([](double) {}) | for_times(2) | out.at(); },
             low_at("134"), 5) == "4:0");
}

TEST_CASE("NaN passes no comparison, and finite() keeps it out") {
  CHECK(play([](taken& out) { return observe<"loss">() | where(below(2.0)) | out.at(); }, nan_at_three, 4) ==
        "1:1 2:0.5 4:0.25");
  CHECK(play([](taken& out) { return observe<"loss">() | where(above(-1.0)) | count() | out.at(); }, nan_at_three, 4) ==
        "1:1 2:2 4:3");
  CHECK(play([](taken& out) { return observe<"loss">() | where(finite()) | smooth(0.5) | out.at(); }, nan_at_three, 4) ==
        "1:1 2:0.75 4:0.5");
  CHECK(play([](taken& out) { return observe<"loss">() | smooth(0.5) | where(below(9.0)) | out.at(); }, nan_at_three, 5) ==
        "1:1 2:0.75");  // an average that was not kept clean stays NaN
  CHECK(play([](taken& out) { return observe<"loss">() | where(below(std::nan(""))) | out.at(); }, itself, 3).empty());
}

TEST_CASE("several values: a predicate and a transform take all of them") {
  auto graph = static_graph{}
                   .variable<"w">(0.0F)
                   .op<"double", "w">([](float w) { return 2 * w; })
                   .update<"train", "w">([](float& w) { w += 1; });
  std::string text;
  auto session = monitored(
      graph, observe<"w", "double">() | where([](float a, float b) { return a + b > 3; }) |
                 tee([&](auto& ctx, float a, float b) {
                   text += std::to_string(ctx.step()) + ":" + support::number(a) + "," + support::number(b) + " ";
                 }) |
                 transform([](float a, float b) { return a * b; }) |
                 call([&](float product) { text += support::number(product) + " "; }));
  (void)session.run_steps(3, target<"train">);
  CHECK(text == "2:2,2 4 3:3,4 12 ");
}

TEST_CASE("request_stop: who, when, and the number in the reason") {
  world of;
  auto session = monitored(scripted(of), named<"converged">(observe<"loss">() | every_steps{2} | where(below(0.2)) |
                                                            request_stop("the loss came down to {}")));
  (void)session.run_to_completion();
  CHECK(support::described(session.stop()) == "stop by converged at 6: the loss came down to 0.166667");
}

TEST_CASE("a published value reaches hooks before and behind in the list, in that run only") {
  world of;
  taken out;
  auto session =
      monitored(scripted(of, itself), observe<"average">() | out.at(),
                observe<"loss">() | every_steps{2} | smooth(0.5F) | publish<"average", float>(), stop_after{5});
  (void)session.run_to_completion();
  CHECK(out.text == "2:2 4:3");
}

TEST_CASE("tee takes a sink and hands on") {
  world of;
  taken out;
  auto session = monitored(scripted(of, itself), observe<"average">() | out.at(),
                           observe<"loss">() | smooth(0.5) | tee(publish<"average">()) | where(above(2.0)) |
                               request_stop("high: {}"));
  (void)session.run_to_completion();
  CHECK(out.text == "1:1 2:1.5 3:2.25");
  CHECK(support::written(session.stop().reason) == "high: 2.25");
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("fail is an error of the pipeline; so is what a callable throws, and a decay that is none") {
  world of;
  auto session = monitored(scripted(of), observe<"loss">() | where(below(0.3)) | tautline::fail(error_kind::nan, "low: {}"));
  CHECK_THROWS_AS((void)session.run_to_completion(), nan_error);
  CHECK(session.status().step == 4);
  CHECK(support::written(session.status().message) == "low: 0.25");

  auto throwing = try_monitored(scripted(of), observe<"loss">() | call([](double) { throw 5; }));
  CHECK(throwing.try_run().error() == error_kind::error);
  CHECK(throwing.status().where == callback::after_run);
  for (double const decay : {1.0, -0.5, std::nan("")}) {
    auto refused = try_monitored(scripted(of), observe<"loss">() | smooth(decay) | request_stop("x"));
    CHECK(refused.status().kind == error_kind::invalid_argument);
    CHECK(refused.status().where == callback::begin);
  }
  auto no_clock = try_monitored(scripted(of), observe<"loss">() | any_trigger(every_seconds{1}) | request_stop("x"));
  CHECK(no_clock.status().kind == error_kind::invalid_argument);
}
#endif

/// A callable that keeps something, and says so.
struct four_of_five {
  int seen = 0;
  bool operator()(double) { return ++seen % 5 != 0; }
  auto state() { return fields{field<"seen">(seen)}; }
  void reset() { seen = 0; }
};

/// The values of a hook's state, as bytes, by name.
template <class Hook>
std::vector<std::pair<std::string, std::vector<unsigned char>>> saved(Hook& hook) {
  std::vector<std::pair<std::string, std::vector<unsigned char>>> all;
  auto visit = [&](state_item const& item) {
    auto const* from = static_cast<unsigned char const*>(item.view.data);
    all.emplace_back(item.field, std::vector<unsigned char>(from, from + item.view.bytes()));
  };
  tautline::detail::visit_fields<"">(state_item{}, hook, visit);
  return all;
}
template <class Hook, class State>
void restore(Hook& hook, State const& state) {
  std::size_t at = 0;
  auto visit = [&](state_item const& item) {
    std::copy(state[at].second.begin(), state[at].second.end(), static_cast<unsigned char*>(item.view.data));
    ++at;
  };
  tautline::detail::visit_fields<"">(state_item{}, hook, visit);
}

auto all_stages(taken& out) {
  return observe<"loss">() | where(four_of_five{}) | smooth(0.75) | smooth(0.5F) | delta<float>() |
         window<2>([](auto const& w) { return w.mean(); }) | where(above(-9.0)) | for_times(2) | every_steps{3} | out.at();
}

TEST_CASE("state: N+M steps, and N, a restore, and M more, are the same to the last bit") {
  auto const wave = [](long run) { return std::sin(static_cast<double>(run)) + 3; };
  auto const rest = [&](long run) { return wave(run + 17); };
  taken whole;
  taken first;
  taken second;
  world of;
  auto one = monitored(scripted(of, wave), all_stages(whole), stop_after{40});
  (void)one.run_to_completion();

  using hook = decltype(all_stages(first));
  world of_first;
  auto before = monitored(scripted(of_first, wave), all_stages(first), stop_after{17});
  (void)before.run_to_completion();
  auto const kept = saved(before.hook<hook>());
  world of_second;
  of_second.first_step = 17;
  auto after = monitored(scripted(of_second, rest), all_stages(second), stop_after{40});
  restore(after.hook<hook>(), kept);
  (void)after.run_to_completion();
  CHECK(whole.text == first.text + " " + second.text);
  CHECK(saved(one.hook<hook>()) == saved(after.hook<hook>()));

  std::vector<std::string> names;
  for (auto const& [name, bytes] : kept) names.push_back(name);
  CHECK(names == std::vector<std::string>{"callable/seen", "smooth/average", "smooth/started", "smooth#2/average",
                                          "smooth#2/started", "delta/previous", "delta/started", "window/values",
                                          "window/next", "window/full", "for_times/in_a_row"});
}

TEST_CASE("begin resets: a hook that is used again begins as it did first") {
  taken out;
  auto hook = all_stages(out);
  std::string texts[2];
  for (std::string& text : texts) {
    world of;
    auto session = monitored(scripted(of, itself), std::ref(hook), stop_after{20});
    (void)session.run_to_completion();
    text = std::exchange(out.text, "");
  }
  CHECK(!texts[0].empty());
  CHECK(texts[0] == texts[1]);
}

TEST_CASE("what a pipeline declares") {
  taken out;
  using plain = decltype(observe<"loss">() | where(below(1.0)) | request_stop("x"));
  using average = decltype(observe<"loss">() | smooth(0.5F) | publish<"x", float>());
  static_assert(stateless<plain> && !lists_state<plain>);
  static_assert(!stateless<average> && lists_state<average>);
  static_assert(std::is_same_v<average::asks, fetches<"loss">>);
  static_assert(std::is_same_v<average::provides, provides_all<provides<"x", float>>>);
  static_assert(std::is_same_v<tautline::detail::provided_by_t<plain>, tautline::detail::type_list<>>);
  static_assert(!tautline::detail::has_trigger<plain>);
  static_assert(tautline::detail::has_trigger<decltype(observe<"loss">() | every_steps{2} | request_stop("x"))>);
  static_assert(sizeof(decltype(observe<"loss">() | smooth(0.5F) | where(finite()) | publish<"x", float>())) ==
                3 * sizeof(float));
}

TEST_CASE("several pipelines of one type, by name") {
  world of;
  auto const make = [](double limit) { return observe<"loss">() | where(below(limit)) | count() | request_stop("{}"); };
  auto session = monitored(scripted(of), named<"strict">(make(0.1)), named<"lax">(make(0.4)));
  (void)session.run_to_completion();
  CHECK(support::described(session.stop()) == "stop by lax at 3: 1");
  CHECK(saved(session.hook<"lax">()) != saved(session.hook<"strict">()));
}

TEST_CASE("after a recovery the trigger follows the step, and what the stages keep stays") {
  world of;
  of.in_run = support::broken_in(4);  // the next session begins at step 0 again
  taken out;
  auto session = monitored(scripted(of, itself), observe<"loss">() | every_steps{2} | count() | out.at(), stop_after{8});
  (void)session.run_to_completion();
  CHECK(out.text == "2:1 2:2 4:3 6:4 8:5");
}

TEST_CASE("an open pipeline is a value: it may be gone on with twice") {
  auto const low = observe<"loss">() | where(below(0.3));
  world of;
  taken out;
  auto session = monitored(scripted(of), low | out.at(), low | for_times(2) | request_stop("low"));
  (void)session.run_to_completion();
  CHECK(out.text == "4:0.25 5:0.2");
}

}  // namespace
