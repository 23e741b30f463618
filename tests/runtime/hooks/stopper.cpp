// SPDX-License-Identifier: BSL-1.0
#include <limits>

#include <tautline/hooks/stopper.hpp>

#include "support.hpp"

using namespace support;
using tautline::monitored;
using tautline::options;
using tautline::stop_criteria;
using tautline::stopper;
using tautline::try_monitored;
using tautline::with_clock;

namespace {

std::string reason(auto const& session) { return written(session.stop().reason); }

/// The loss of raw run K is the K-th value; the last one repeats.
auto losses(std::vector<double> values) {
  return [values](long run) {
    auto const at = static_cast<std::size_t>(run) - 1;
    return values[at < values.size() ? at : values.size() - 1];
  };
}

}  // namespace

TEST_CASE("steps count from where the session starts, or from the very first") {
  world of;
  of.first_step = 5;
  {
    auto session = monitored(scripted(of), stopper{stop_criteria{.max_steps = 3}});
    CHECK(session.run_to_completion().steps == 8);
    CHECK(reason(session) == "reached step 8");
    CHECK(contains(session.stop().by, "stopper"));
  }
  {
    auto session = monitored(scripted(of), stopper{stop_criteria{.max_steps = 7, .restart_counting = false}});
    CHECK(session.run_to_completion().steps == 7);
  }
  auto session = monitored(scripted(of), stopper{stop_criteria{.max_steps = 5, .restart_counting = false}});
  CHECK(session.should_stop());
}

TEST_CASE("the target of the steps is kept over recoveries, and a second begin forgets it") {
  world of;
  of.first_step = 5;
  of.in_run = [&](long run) {
    of.first_step = 6;
    return run == 3 ? tautline::status{error_kind::aborted, "broken"} : tautline::status{};
  };
  stopper hook{stop_criteria{.max_steps = 3}};
  {
    auto session = monitored(scripted(of), std::ref(hook));
    CHECK(session.run_to_completion().steps == 8);
    CHECK(of.sessions == 2);
  }
  of.first_step = 20;
  auto session = monitored(scripted(of), std::ref(hook));
  of.first_step = 20;
  CHECK(session.run_to_completion().steps == 23);
}

TEST_CASE("seconds are those of the session's clock, since the first session") {
  world of;
  of.ticks_a_run = 400;  // of 1000 in a second
  of.in_run = broken_in(2);
  auto session = monitored(scripted(of), options{with_clock{run_clock{&of}}}, stopper{stop_criteria{.max_seconds = 2}});
  (void)session.run_to_completion();
  CHECK(of.runs == 5);
  CHECK(reason(session) == "2 seconds have passed");
}

TEST_CASE("the clock is read only if seconds count") {
  struct counting_clock {
    int* readings;
    [[nodiscard]] int now() const { return ++*readings; }
    static constexpr int ticks_per_second() { return 1000; }
  };
  world of;
  int readings = 0;
  auto session = monitored(scripted(of), options{with_clock{counting_clock{&readings}}}, stopper{stop_criteria{.max_steps = 10}});
  int const when_made = readings;
  CHECK(session.run_to_completion().steps == 10);
  CHECK(readings == when_made);
}

TEST_CASE("epochs count as the graph counts them") {
  auto const epochs = [](long run) { return static_cast<double>(3 + (run - 1) / 4); };  // 3, 3, 3, 3, 4, …
  {
    world of;
    auto session = monitored(scripted(of, epochs), stopper<"", "epoch">{stop_criteria{.max_epochs = 2}});
    CHECK(session.run_to_completion().steps == 9);
    CHECK(reason(session) == "reached epoch 5");
  }
  world of;
  auto session =
      monitored(scripted(of, epochs), stopper<"", "epoch">{stop_criteria{.max_epochs = 4, .restart_counting = false}});
  CHECK(session.run_to_completion().steps == 5);
}

TEST_CASE("the target of the epochs is kept over recoveries") {
  world of;
  of.in_run = broken_in(6);
  auto const epochs = [](long run) { return static_cast<double>((run - 1) / 4); };
  auto session = monitored(scripted(of, epochs), stopper<"", "epoch">{stop_criteria{.max_epochs = 2}});
  (void)session.run_to_completion();
  CHECK(of.runs == 9);
}

TEST_CASE("an absolute loss change is that from the previous step, with patience") {
  world of;
  // changes: 1, .05, .05, 1, .05, .05, .05
  auto session = monitored(scripted(of, losses({5, 4, 3.95, 3.9, 2.9, 2.85, 2.8, 2.75, 2.7})),
                           stopper<"loss">{stop_criteria{.abs_loss_change_tol = 0.1, .max_step_below_tol = 2}});
  CHECK(session.run_to_completion().steps == 8);
  CHECK(reason(session) == "the loss has stood still at 2.75 for 3 steps");
}

TEST_CASE("a loss that changes slowly for ever is compared with the previous step, not with the first") {
  world of;
  auto session = monitored(scripted(of, [](long run) { return 100.0 - static_cast<double>(run) * 0.05; }),
                           stopper<"loss">{stop_criteria{.abs_loss_change_tol = 0.1, .max_step_below_tol = 10}});
  CHECK(session.run_to_completion().steps == 12);  // the 11th small change
}

TEST_CASE("a relative loss change is a part of the previous loss, whatever its sign") {
  world of;
  auto session = monitored(scripted(of, losses({-100, -50, -50.4, -50.8})),
                           stopper<"loss">{stop_criteria{.rel_loss_change_tol = 0.01, .max_step_below_tol = 1}});
  CHECK(session.run_to_completion().steps == 4);
}

TEST_CASE("a loss that stands at zero stands still") {
  world of;
  auto session = monitored(scripted(of, losses({0})),
                           stopper<"loss">{stop_criteria{.rel_loss_change_tol = 0.01, .max_step_below_tol = 0}});
  CHECK(session.run_to_completion().steps == 2);
}

TEST_CASE("NaN is no small change") {
  world of;
  double const nan = std::numeric_limits<double>::quiet_NaN();
  auto session = monitored(scripted(of, losses({1, 1, nan, 1, 1, 1})),
                           stopper<"loss">{stop_criteria{.abs_loss_change_tol = 0.1, .max_step_below_tol = 1}});
  CHECK(session.run_to_completion().steps == 6);
}

TEST_CASE("a recovery does not interrupt the comparison: the loss is that of the step before") {
  world of;
  of.in_run = broken_in(3);
  auto session = monitored(scripted(of, losses({1})),
                           stopper<"loss">{stop_criteria{.abs_loss_change_tol = 0.1, .max_step_below_tol = 1}});
  (void)session.run_to_completion();
  CHECK(of.runs == 4);  // two, of which the second stands still, a failure, and one that stands still
}

TEST_CASE("a value is computed only if its criterion is set") {
  world of;
  {
    auto session = monitored(scripted(of), stopper<"loss", "epoch">{stop_criteria{.max_steps = 1}});
    (void)session.run_to_completion();
    CHECK(count(of.trace, "run 1") == 1);
  }
  auto session = monitored(scripted(of), stopper<"loss">{stop_criteria{.max_steps = 1, .abs_loss_change_tol = 1}});
  (void)session.run_to_completion();
  CHECK(count(of.trace, "run 2 loss") == 1);
}

TEST_CASE("several criteria: the first that is met counts") {
  world of;
  auto session = monitored(scripted(of, losses({1})),
                           stopper<"loss">{stop_criteria{.max_steps = 10, .abs_loss_change_tol = 0.1, .max_step_below_tol = 3}});
  CHECK(session.run_to_completion().steps == 5);
}

TEST_CASE("criteria that can never be met are refused") {
  world of;
  auto const refusal = [&](auto hook) {
    auto session = try_monitored(scripted(of), std::move(hook));
    CHECK(session.status().kind == error_kind::invalid_argument);
    CHECK_FALSE(session.is_open());
    return written(session.status().message);
  };
  CHECK(contains(refusal(stopper{stop_criteria{}}), "no criterion"));
  CHECK(contains(refusal(stopper{stop_criteria{.max_epochs = 1}}), "max_epochs"));
  CHECK(contains(refusal(stopper{stop_criteria{.rel_loss_change_tol = 1}}), "loss"));
  CHECK(contains(refusal(stopper{stop_criteria{.max_seconds = 1}}), "clock"));
}
