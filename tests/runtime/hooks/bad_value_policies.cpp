// SPDX-License-Identifier: BSL-1.0
#include <limits>

#include <tautline/hooks/learning_rate_schedule.hpp>
#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/stop_at_step.hpp>

#include "listed_graph.hpp"
#include "memory_store.hpp"
#include "support.hpp"

// nan_checker in sessions that can stage a run: it looks before a variable is changed.

using namespace support;
using namespace tautline;
using support::target;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

using skipping = basic_nan_checker<skip_at_most, "loss">;
using going_back = basic_nan_checker<roll_back_at_most<>, "loss">;

/// Grows threefold with a rate of 2, stands with 1, shrinks with less; not finite beyond 1000. Writes down the rates.
auto growing(std::vector<double>* rates) {
  return static_graph{}
      .variable<"w">(1.0)
      .placeholder<"rate">(0.0)
      .op<"loss", "w">([](double w) { return w * w > 1000 ? infinity : w * w; })
      .update<"train", "w", "rate">([rates](double& w, double rate) {
        rates->push_back(rate);
        w *= 1 - 2 * rate;
      });
}

}  // namespace

TEST_CASE("failing and stopping: the update of the bad run does not take place") {
  auto session = try_monitored(listed_graph({1, 2, nan, 4}), nan_checker<"loss">{});
  CHECK(session.try_run_to_completion(target<"train">).error == error_kind::nan);
  CHECK(session.status().where == callback::gate);
  CHECK(session.status().step == 3);
  CHECK(session.completed_steps() == 2);
  CHECK(session.raw()[fetch<"w">] == 3);
  auto other = monitored(listed_graph({1, 2, infinity, 4}), nan_checker<"half", "both">{on_nan::stop});
  (void)other.run_to_completion(target<"train">);
  CHECK(other.completed_steps() == 3);
  CHECK(written(other.stop().reason) == "half is inf");
  CHECK(other.raw()[fetch<"w">] == 3);
}

TEST_CASE("a value that stands behind the update, but is computed of what the update only reads, is looked at before it") {
  auto graph = listed_graph({1, nan}).op<"behind", "x", "rate">([](double x, double rate) { return x * rate; });
  auto session = try_monitored(std::move(graph), nan_checker<"behind">{});
  CHECK(session.try_run_to_completion(target<"train">, fetch<"behind">).error == error_kind::nan);
  CHECK(session.raw()[fetch<"w">] == 1);
}

TEST_CASE("skipping: so many in a row, then it fails; the counts are there") {
  auto session = try_monitored(listed_graph({1, nan, infinity, 4, nan, nan, nan, 8}), nan_checker<"loss">::with(skip_at_most{2}));
  auto& hook = session.hook<skipping>();
  std::string counts;
  while (session.try_run(target<"train">)) {
    counts += std::to_string(hook.skipped()) + "/" + std::to_string(hook.skipped_in_a_row()) + " ";
  }
  CHECK(counts == "0/0 1/1 2/2 2/0 3/1 4/2 ");
  CHECK(session.status().kind == error_kind::nan);
  CHECK(session.status().where == callback::gate);
  CHECK(session.status().step == 7);
  CHECK(written(session.status().message) == "loss is nan");
  CHECK(session.completed_steps() == 6);
  CHECK(session.raw()[fetch<"w">] == 5);
  CHECK(hook.skipped() == 4);
  auto none = try_monitored(listed_graph({nan}), nan_checker<"loss">::with(skip_at_most{0}));
  CHECK(none.try_run(target<"train">).error() == error_kind::nan);
}

TEST_CASE("a skipped run is a step, which the caller and later hooks see") {
  auto session = monitored(listed_graph({1, nan, 3}), nan_checker<"loss">::with(skip_at_most{1}));
  std::string seen;
  for (auto const& step : session.steps(target<"train">)) seen += std::to_string(step.step()) + (step.vetoed() ? "v " : " ");
  CHECK(seen == "1 2v 3 ");
  CHECK(session.raw()[fetch<"w">] == 4);
}

TEST_CASE("what was skipped is resumed, also within a row, and begin forgets it") {
  memory_store store;
  {
    auto session = monitored(listed_graph({1, nan, nan, nan, 5}), options{restore_from{store}},
                             nan_checker<"loss">::with(skip_at_most{2}), memory_saver{&store, every_steps{3}});
    (void)session.run_steps(3, target<"train">);
    session.abandon();
  }
  auto resumed = try_monitored(listed_graph({1, nan, nan, nan, 5}), options{restore_from{store}},
                               nan_checker<"loss">::with(skip_at_most{2}), memory_saver{&store, every_steps{3}});
  CHECK(resumed.hook<skipping>().skipped() == 2);
  CHECK(resumed.try_run(target<"train">).error() == error_kind::nan);
  auto hook = nan_checker<"loss">::with(skip_at_most{2});
  for (int i = 0; i < 2; ++i) {
    auto session = monitored(listed_graph({nan, nan}), std::ref(hook));
    (void)session.run_to_completion(target<"train">);
    CHECK(hook.skipped() == 2);
  }
}

TEST_CASE("going back: so many times, then it fails; what is counted is not taken back") {
  memory_store store;
  auto session = try_monitored(listed_graph({1, 2, 3, nan, 5}), options{restore_from{store}},
                               nan_checker<"loss">::with(roll_back_at_most{2, 0.25}), memory_saver{&store, every_steps{2}});
  CHECK(session.try_run_to_completion(target<"train">).error == error_kind::nan);
  auto& hook = session.hook<going_back>();
  CHECK(hook.rolled_back() == 2);
  CHECK(hook.rate_scale() == 0.0625);
  CHECK(store.restores == 2);
  CHECK(session.completed_steps() == 3);
  CHECK(session.status().where == callback::gate);
  CHECK(written(session.status().message) == "loss is nan");
  for (auto const& [name, value] : store.values) {
    if (contains(name, "rolled_back") || contains(name, "rate_scale")) CHECK(value.kept);
  }
}

TEST_CASE("going back without a checkpoint is an error that says so") {
  memory_store store;
  auto session = try_monitored(listed_graph({1, nan}), options{restore_from{store}},
                               nan_checker<"loss">::with(roll_back_at_most{2}), memory_saver{&store, every_steps{5}});
  CHECK(session.try_run_to_completion(target<"train">).error == error_kind::nan);
  CHECK(contains(written(session.status().message), "no checkpoint to go back to"));
}

TEST_CASE("the rate is smaller in the first run after the way back, whatever the order of the arguments") {
  // w² is 1, 9, 81, 729 before the first four runs, then not finite: from step 3 again, with half the rate
  std::vector<double> const expected{2, 2, 2, 2, 1, 1};
  auto const schedule = [] { return learning_rate_schedule<"rate", "rate_scale">(schedules::constant{2}); };
  auto const play = [](auto& session, std::vector<double>& rates) {
    while (rates.size() < 6 && session.try_run(target<"train">)) {
    }
    CHECK(session.completed_steps() == 5);
  };
  {
    memory_store store;
    std::vector<double> rates;
    auto session = monitored(growing(&rates), options{restore_from{store}}, nan_checker<"loss">::with(roll_back_at_most{1}),
                             schedule(), memory_saver{&store, every_steps{3}});
    play(session, rates);
    CHECK(rates == expected);
  }
  memory_store store;
  std::vector<double> rates;
  auto session = monitored(growing(&rates), options{restore_from{store}}, memory_saver{&store, every_steps{3}}, schedule(),
                           nan_checker<"loss">::with(roll_back_at_most{1}));
  play(session, rates);
  CHECK(rates == expected);
}

TEST_CASE("what went back is known in a resumed training, and the rate stays small") {
  memory_store store;
  std::vector<double> rates;
  for (int i = 0; i < 2; ++i) {
    auto session = monitored(growing(&rates), options{restore_from{store}}, memory_saver{&store, every_steps{3}},
                             learning_rate_schedule<"rate", "rate_scale">(schedules::constant{2}),
                             nan_checker<"loss">::with(roll_back_at_most{1}));
    rates.clear();
    CAPTURE(i);
    (void)session.run_steps(i == 0 ? 7 : 1, target<"train">);  // one of them is made twice
    CHECK(session.hook<going_back>().rolled_back() == 1);
    CHECK(rates.back() == 1);
    session.abandon();
  }
}

TEST_CASE("a policy with numbers that make no sense is refused before the first run") {
  auto const refused = [](auto policy) {
    memory_store store;
    auto session = try_monitored(listed_graph({1}), options{restore_from{store}}, nan_checker<"loss">::with(policy));
    return session.status().kind == error_kind::invalid_argument && session.status().where == callback::begin;
  };
  CHECK_FALSE(refused(skip_at_most{0}));
  CHECK(refused(skip_at_most{-1}));
  CHECK_FALSE(refused(roll_back_at_most{0, 1}));
  CHECK(refused(roll_back_at_most{-1}));
  CHECK(refused(roll_back_at_most{1, 0}));
  CHECK(refused(roll_back_at_most{1, 1.5}));
  CHECK(refused(roll_back_at_most{1, std::numeric_limits<double>::quiet_NaN()}));
}

TEST_CASE("in sessions that must not wait") {
  auto session = monitored(listed_graph({1, nan, 3}), options{real_time{}}, nan_checker<"loss">::with(skip_at_most{1}));
  (void)session.run_to_completion(target<"train">);
  CHECK(session.raw()[fetch<"w">] == 4);
  static_assert(nan_checker<"loss">::real_time && going_back::real_time);
  static_assert(stateless<nan_checker<"loss">> && !stateless<skipping>);
}

TEST_CASE("several of them: a run that the first has vetoed is not looked at by the second") {
  auto session = try_monitored(listed_graph({1, nan, 3}), nan_checker<"loss">::with(skip_at_most{1}),
                               named<"other">(nan_checker<"both">{on_nan::stop}));
  (void)session.try_run_to_completion(target<"train">);
  CHECK(session.stop().source == stop_source::end_of_input);
  CHECK(session.hook<skipping>().skipped() == 1);
  CHECK(session.raw()[fetch<"w">] == 4);
  auto swapped = try_monitored(listed_graph({1, nan, 3}), named<"other">(nan_checker<"both">{on_nan::stop}),
                               nan_checker<"loss">::with(skip_at_most{1}));
  (void)swapped.try_run_to_completion(target<"train">);
  CHECK(written(swapped.stop().reason) == "both[0] is nan");
  CHECK(swapped.hook<skipping>().skipped() == 0);
  CHECK(swapped.raw()[fetch<"w">] == 1);
}
