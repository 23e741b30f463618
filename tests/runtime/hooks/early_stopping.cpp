// SPDX-License-Identifier: BSL-1.0
#include <limits>

#include <tautline/hooks/early_stopping.hpp>
#include <tautline/hooks/stop_at_step.hpp>

#include "memory_store.hpp"
#include "support.hpp"

using namespace support;
using tautline::at_end;
using tautline::every_steps;
using tautline::monitored;
using tautline::options;
using tautline::restore_from;
using tautline::stop_at_step;
using tautline::stop_if_above;
using tautline::stop_if_below;
using tautline::stop_if_no_decrease;
using tautline::stop_if_no_increase;
using tautline::try_monitored;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// The loss of raw run K is the K-th value; the last one repeats.
auto losses(std::vector<double> values) {
  return [values](long run) {
    auto const at = static_cast<std::size_t>(run) - 1;
    return values[at < values.size() ? at : values.size() - 1];
  };
}
std::string reason(auto const& session) { return written(session.stop().reason); }

/// Where a training over these values stops; at step 100 in any case.
template <class Hook>
step_number stops_at(std::vector<double> values, Hook hook) {
  world of;
  auto session = monitored(scripted(of, losses(std::move(values))), std::move(hook), stop_at_step{tautline::last_step{100}});
  return session.run_to_completion().steps;
}

/// Publishes in every third step, as an evaluator does.
struct publisher {
  using provides = tautline::provides<"validation/accuracy", double>;
  std::vector<double> values;
  std::size_t next = 0;
  void after_run(auto& ctx) {
    if (ctx.step() % 3 == 0) ctx.template publish<"validation/accuracy">(values[next < values.size() ? next++ : values.size() - 1]);
  }
};

}  // namespace

TEST_CASE("patience p stops at the p-th look in a row without improvement") {
  struct row {
    std::vector<double> values;
    std::int64_t patience;
    step_number stop;
  };
  row const table[] = {
      {{1}, 1, 2},                          // the first look is the best: it is not compared with itself
      {{1}, 2, 3},
      {{1}, 5, 6},
      {{3, 2, 1, 1}, 1, 4},
      {{3, 2, 1, 1, 1}, 2, 5},
      {{3, 3, 2, 2, 1, 1}, 2, 7},           // an improvement starts the count anew
      {{3, 3.1, 2.9, 3, 3, 3}, 3, 6},       // against the best, not against the one before
      {{3, 4, 3.5, 3.2, 3.1, 3.05}, 3, 4},  // falling, but not below the best
      {{1, nan, nan}, 2, 3},                // NaN is a bad look
      {{1, nan, 0.5, nan, nan}, 2, 5},      // and does not spoil the best
      {{nan}, 3, 3},                        // the first, too
      {{nan, nan, 1, 1}, 3, 6},
      {{nan, 2, 1, 1, 1, 1}, 2, 5},
      {{1, -inf, 0.5, 0.5, 0.5}, 2, 5},     // no infinite best that could never be beaten
      {{inf, 1, 1, 1}, 2, 4},
      {{3, 2.5, 2, 1.5, 1, 0.5, 0, -0.5, -0.5}, 1, 9},
  };
  for (row const& each : table) {
    CAPTURE(each.patience);
    CAPTURE(each.stop);
    CHECK(stops_at(each.values, stop_if_no_decrease<"loss">{{.patience = each.patience}}) == each.stop);
    std::vector<double> negated = each.values;
    for (double& value : negated) value = -value;
    CHECK(stops_at(negated, stop_if_no_increase<"loss">{{.patience = each.patience}}) == each.stop);
  }
}

TEST_CASE("max_steps counts steps since the best, as the original does") {
  CHECK(stops_at({3, 2, 2}, stop_if_no_decrease<"loss">{{.max_steps = 1}}) == 3);
  CHECK(stops_at({3, 2, 2}, stop_if_no_decrease<"loss">{{.max_steps = 10}}) == 12);
  CHECK(stops_at({3, 2, 2}, stop_if_no_decrease<"loss", every_steps>{{.max_steps = 10}, every_steps{4}}) == 16);  // best at 4
  CHECK(stops_at({3, 2, 2}, stop_if_no_decrease<"loss">{{.patience = 20, .max_steps = 10}}) == 12);  // the first that is reached
  CHECK(stops_at({3, 2, 2}, stop_if_no_decrease<"loss">{{.patience = 5, .max_steps = 10}}) == 7);
  CHECK(stops_at({nan}, stop_if_no_decrease<"loss">{{.max_steps = 4}}) == 5);
}

TEST_CASE("the evaluation history of the original's own test") {
  struct row {
    step_number max_steps;
    step_number min_steps;
    bool stops;
  };
  for (row const& each : {row{1500, 0, false}, row{500, 4000, false}, row{500, 0, true}}) {
    world of;
    of.per_run = 500;  // looks at 1000, 2000, 3000 and 3500
    auto const history = [](long run) {
      constexpr double loss[] = {0.8, 0.8, 0.7, 0.7, 0.7, 0.4, 0.41};
      return loss[run < 7 ? run - 1 : 6];
    };
    auto session = monitored(scripted(of, history),
                             stop_if_no_decrease<"loss", tautline::at_steps<4>>{
                                 {.max_steps = each.max_steps, .min_steps = each.min_steps}, tautline::at_steps{1000, 2000, 3000, 3500}},
                             stop_at_step{tautline::last_step{3500}});
    (void)session.run_to_completion();
    CHECK(contains(session.stop().by, "stop_if") == each.stops);
  }
}

TEST_CASE("min_delta is a difference, or a part of the best") {
  CHECK(stops_at({10, 9.5, 9, 8.5}, stop_if_no_decrease<"loss">{{.patience = 1, .min_delta = 0.6}}) == 2);
  CHECK(stops_at({10, 9, 8, 7, 6.5}, stop_if_no_decrease<"loss">{{.patience = 1, .min_delta = 0.6}}) == 5);
  CHECK(stops_at({10, 9.5, 9, 8.9}, stop_if_no_decrease<"loss">{{.patience = 2, .min_delta = 0.6}}) == 5);  // small ones add up: 9 is below 10 by more
  CHECK(stops_at({10, 9.5, 9.4}, stop_if_no_decrease<"loss">{{.patience = 1, .min_delta = 0.5}}) == 2);  // by more, not by as much
  CHECK(stops_at({100, 98, 97.5}, stop_if_no_decrease<"loss">{{.patience = 1, .min_delta = 0.01, .relative = true}}) == 3);
  CHECK(stops_at({-100, -102, -102.5}, stop_if_no_decrease<"loss">{{.patience = 1, .min_delta = 0.01, .relative = true}}) == 3);
  CHECK(stops_at({-100, -98, -97.5}, stop_if_no_increase<"loss">{{.patience = 1, .min_delta = 0.01, .relative = true}}) == 3);
}

TEST_CASE("earlier steps than min_steps are not looked at, and bad looks of the warm-up do not count") {
  // the best of all, in step 1, is not seen
  CHECK(stops_at({0, 5, 4, 4, 4, 4}, stop_if_no_decrease<"loss">{{.patience = 2, .min_steps = 2}}) == 5);
  // it is seen in a warm-up
  CHECK(stops_at({0, 5, 4, 3, 2, 1}, stop_if_no_decrease<"loss">{{.patience = 2, .warm_up = 4}}) == 6);
  CHECK(stops_at({9, 9, 9, 9, 9, 9}, stop_if_no_decrease<"loss">{{.patience = 1, .warm_up = 4}}) == 5);
  CHECK(stops_at({9, 9, 9, 9, 9, 9}, stop_if_no_decrease<"loss">{{.max_steps = 3, .warm_up = 4}}) == 7);
}

TEST_CASE("above and below are strict, and may be wanted several times in a row") {
  CHECK(stops_at({1, 2, 3, 4}, stop_if_above<"loss">{3}) == 4);
  CHECK(stops_at({4, 3, 2, 1}, stop_if_below<"loss">{2}) == 4);
  CHECK(stops_at({9, 1, 9, 9, 9}, stop_if_above<"loss">{{.bound = 5, .patience = 2}}) == 4);
  CHECK(stops_at({9, 9, 9, 9, 9}, stop_if_above<"loss">{{.bound = 5, .patience = 2, .min_steps = 3}}) == 4);
  CHECK(stops_at({9, nan, 9, nan, 9, 9}, stop_if_above<"loss">{{.bound = 5, .patience = 2}}) == 6);
  CHECK(stops_at({nan, nan, -1}, stop_if_below<"loss">{0}) == 3);
  CHECK(stops_at({nan, inf}, stop_if_above<"loss">{0}) == 2);
  CHECK(stops_at({nan}, stop_if_below<"loss">{0}) == 100);
}

TEST_CASE("the reason has the numbers, and the best can be read") {
  world of;
  auto session = monitored(scripted(of, losses({3, 0.25, 0.5, nan})), stop_if_no_decrease<"loss">{{.patience = 3}});
  auto const done = session.run_to_completion();
  CHECK(done.steps == 5);
  CHECK(reason(session) == "loss has not decreased below 0.25 of step 2");
  CHECK(std::string(done.stop.by) == "stop_if_no_decrease<\"loss\">");
  auto const& hook = session.hook<stop_if_no_decrease<"loss">>();
  CHECK(hook.best() == 0.25);
  CHECK(hook.best_step() == 2);
  CHECK(hook.bad_looks() == 3);
  CHECK(hook.looks() == 5);
  CHECK(hook.has_best());

  world other;
  auto second = monitored(scripted(other, losses({3, nan})), stop_if_no_increase<"loss">{{.patience = 1}}, stop_if_above<"loss">{2});
  (void)second.run_to_completion();
  CHECK(reason(second) == "loss is 3, above 2");
  world third;
  auto never = monitored(scripted(third, losses({nan})), stop_if_no_increase<"loss">{{.patience = 2}});
  (void)never.run_to_completion();
  CHECK(reason(never) == "loss has never been finite in 2 looks");
  CHECK_FALSE(never.hook<stop_if_no_increase<"loss">>().has_best());
}

TEST_CASE("a stop does not cut the event short") {
  world of;
  auto session = monitored(scripted(of, losses({1})), stop_if_below<"loss">{2}, probe{&of, "later"});
  (void)session.run_to_completion();
  session.close();
  CHECK(count(of.trace, "after_run later step=1 loss=1") == 1);
  CHECK(count(of.trace, "end later") == 1);
  CHECK(of.runs == 1);
}

TEST_CASE("a published value is looked at when it is published") {
  world of;
  auto session = monitored(scripted(of), stop_if_no_increase<"validation/accuracy">{{.patience = 2}}, publisher{{0.5, 0.6, 0.6, 0.4}});
  CHECK(session.run_to_completion().steps == 12);
  CHECK(session.hook<stop_if_no_increase<"validation/accuracy">>().best_step() == 6);
  CHECK(session.hook<stop_if_no_increase<"validation/accuracy">>().looks() == 4);
  world other;
  auto second = monitored(scripted(other), publisher{{0.5, 0.96}}, stop_if_above<"validation/accuracy">{0.95});
  CHECK(second.run_to_completion().steps == 6);
}

TEST_CASE("with a trigger the value is asked for in due runs only") {
  world of;
  auto session = monitored(scripted(of, losses({1})), stop_if_no_decrease<"loss", every_steps>{{.patience = 1}, every_steps{10}});
  CHECK(session.run_to_completion().steps == 20);
  long asked = 0;
  for (std::string const& line : of.trace) asked += contains(line, " loss") ? 1 : 0;
  CHECK(asked == 2);
}

TEST_CASE("begin forgets; a recovery does not") {
  world of;
  of.in_run = broken_in(3);
  stop_if_no_decrease<"loss"> hook{{.patience = 3}};
  {
    auto session = monitored(scripted(of, losses({1})), std::ref(hook));
    (void)session.run_to_completion();
    CHECK(of.runs == 5);  // four looks and a failure
  }
  world second;
  auto session = monitored(scripted(second, losses({9})), std::ref(hook));
  CHECK(session.run_to_completion().steps == 4);
  CHECK(hook.best() == 9);
}

TEST_CASE("a resumed training goes on counting") {
  auto const values = [](step_number offset) {
    return [offset](long run) { return run + offset == 2 ? 0.5 : 1.0; };
  };
  auto const hook = [] { return stop_if_no_decrease<"loss">{{.patience = 6, .warm_up = 1}}; };
  world whole;
  auto reference = monitored(scripted(whole, values(0)), hook());
  CHECK(reference.run_to_completion().steps == 8);

  memory_store store;
  {
    world of;
    auto session = monitored(scripted(of, values(0)), options{restore_from{store}}, hook(), memory_saver{&store, every_steps{5}});
    (void)session.run_steps(7);  // two steps are lost
  }
  CHECK(store.step == 5);
  CHECK(store.get<double>("hook/stop_if_no_decrease<\"loss\">/best") == 0.5);
  CHECK(store.get<step_number>("hook/stop_if_no_decrease<\"loss\">/best_step") == 2);
  CHECK(store.get<std::int64_t>("hook/stop_if_no_decrease<\"loss\">/bad_looks") == 3);
  world of;
  auto session = monitored(scripted(of, values(5)), options{restore_from{store}}, hook(), memory_saver{&store, every_steps{5}});
  CHECK(session.run_to_completion().steps == 8);
  CHECK(session.hook<stop_if_no_decrease<"loss">>().best_step() == 2);
  CHECK(session.hook<stop_if_no_decrease<"loss">>().looks() == 8);
}

TEST_CASE("the count of a bound is resumed, too") {
  memory_store store;
  auto const hook = [] { return stop_if_above<"loss">{{.bound = 0, .patience = 8}}; };
  {
    world of;
    auto session = monitored(scripted(of, losses({1})), hook(), memory_saver{&store, every_steps{5}});
    (void)session.run_steps(5);
  }
  world of;
  auto session = monitored(scripted(of, losses({1})), options{restore_from{store}}, hook());
  CHECK(session.run_to_completion().steps == 8);
}

TEST_CASE("rules that make no sense are refused") {
  auto const refusal = [&](auto hook) {
    world of;
    auto session = try_monitored(scripted(of), std::move(hook));
    CHECK(session.status().kind == error_kind::invalid_argument);
    CHECK(session.status().where == callback::begin);
    return written(session.status().message);
  };
  CHECK(contains(refusal(stop_if_no_decrease<"loss">{{}}), "without a limit"));
  CHECK(contains(refusal(stop_if_no_decrease<"loss">{{.patience = 0}}), "at least 1"));
  CHECK(contains(refusal(stop_if_no_decrease<"loss">{{.patience = -3}}), "at least 1"));
  CHECK(contains(refusal(stop_if_no_decrease<"loss">{{.patience = 1, .max_steps = 0}}), "at least 1"));
  CHECK(contains(refusal(stop_if_no_decrease<"loss">{{.patience = 1, .min_delta = -1}}), "not negative"));
  CHECK(contains(refusal(stop_if_no_decrease<"loss">{{.patience = 1, .min_delta = nan}}), "not negative"));
  CHECK(contains(refusal(stop_if_no_decrease<"loss">{{.patience = 1, .warm_up = -1}}), "not negative"));
  CHECK(contains(refusal(stop_if_above<"loss">{nan}), "bound"));
  CHECK(contains(refusal(stop_if_above<"loss">{{.bound = 1, .patience = 0}}), "bound"));
}

TEST_CASE("they are for loops that must not wait, and small") {
  world of;
  auto session = monitored(scripted(of, losses({1})), options{tautline::real_time{}}, stop_if_no_decrease<"loss">{{.patience = 3}},
                           stop_if_below<"loss">{0});
  CHECK(session.run_to_completion().steps == 4);
  static_assert(sizeof(stop_if_no_decrease<"loss">) == 96);
  static_assert(sizeof(stop_if_below<"loss">) == 32);
}
