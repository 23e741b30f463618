// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include <tautline/hooks/step_timer.hpp>
#include <tautline/hooks/stop_at_step.hpp>

#include "support.hpp"

using namespace support;
using namespace tautline;
using support::target;

namespace {

/// The world's ticks, a thousand in a second: they pass in runs only, or where a hook says so.
struct work {
  world* of;
  std::uint64_t ticks;
  void after_run(auto&) const { of->ticks += ticks; }
};

}  // namespace

TEST_CASE("buckets: each value is in one, its bounds are within an eighth, and the order is kept") {
  for (std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{15}, std::uint64_t{16}, std::uint64_t{17}, std::uint64_t{255},
                              std::uint64_t{256}, std::uint64_t{1'000'003}, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
    int const bucket = time_histogram::bucket_of(value);
    REQUIRE(bucket < time_histogram::buckets);
    CHECK(time_histogram::lowest_of(bucket) <= value);
    CHECK(value - time_histogram::lowest_of(bucket) < time_histogram::width_of(bucket));
    CHECK(time_histogram::width_of(bucket) * 8 <= std::max<std::uint64_t>(time_histogram::lowest_of(bucket), 8));
  }
  for (int bucket = 0; bucket + 1 < time_histogram::buckets; ++bucket) {
    CHECK(time_histogram::lowest_of(bucket) + time_histogram::width_of(bucket) == time_histogram::lowest_of(bucket + 1));
    CHECK(time_histogram::bucket_of(time_histogram::lowest_of(bucket)) == bucket);
  }
}

TEST_CASE("quantiles are within a sixteenth, merged ones too") {
  time_histogram odd, even;
  for (std::uint64_t value = 1; value <= 10'000; ++value) (value % 2 == 0 ? even : odd).add(value);
  odd.merge(even);
  CHECK(odd.count() == 10'000);
  CHECK(odd.max() == 10'000);
  CHECK(odd.min() == 1);
  CHECK(odd.mean() == 5000.5);
  for (double part : {0.01, 0.5, 0.9, 0.99, 0.999}) CHECK(odd.quantile(part) == doctest::Approx(part * 10'000).epsilon(1.0 / 16));
  CHECK(odd.quantile(1) <= 10'000);
  CHECK(odd.quantile(0) == 1);
  CHECK(time_histogram{}.quantile(0.5) == 0);
}

TEST_CASE("steps, jitter, deadline and the time by hook, by the session's clock") {
  world of;
  std::uint64_t const lengths[] = {10, 10, 40, 10, 40, 40, 10};
  of.ticks_a_run = 0;
  of.in_run = [&](long run) {
    of.ticks += lengths[run - 1];
    return status{};
  };
  auto session = monitored(scripted(of), options{with_clock{run_clock{&of}}}, named<"worker">(work{&of, 5}), basic_step_timer<>{{.deadline = 0.03}});
  for (int i = 0; i < 7; ++i) {
    (void)session.run();
    of.ticks += 1000;  // the caller's own time is no step
  }
  step_times const& found = session.hook<basic_step_timer<>>().times();
  CHECK(found.steps.count() == 7);
  CHECK(found.steps.max() == 45);
  CHECK(found.steps.min() == 15);
  CHECK(found.seconds(found.steps.sum()) == doctest::Approx(0.195));
  CHECK(found.jitter.count() == 6);
  CHECK(found.jitter.max() == 30);
  CHECK(found.jitter.sum() == 4 * 30);
  CHECK(found.misses == 3);
  CHECK(found.misses_in_a_row == 2);
  CHECK(found.at_place(0).ticks == 35);
  CHECK(found.at_place(0).calls == 7);
  CHECK(std::string(found.at_place(0).name) == "worker");
  CHECK(found.at_place(2).ticks == 160);  // the session: its runs
  CHECK(found.in(callback::run).longest == 40);
  CHECK(found.in(callback::run).calls == 7);
  CHECK(found.in(callback::after_run).ticks == 35);
  CHECK(found.step_seconds(0.5) == doctest::Approx(0.015));
}

TEST_CASE("a run that fails is no step, and the first step of a session is no measure for jitter") {
  world of;
  of.in_run = broken_in(3);
  auto session = monitored(scripted(of), options{with_clock{run_clock{&of}}}, basic_step_timer<>{}, stop_at_step{2});
  (void)session.run_to_completion();
  CHECK(session.hook<basic_step_timer<>>().times().steps.count() == 2);
  world other;
  other.in_run = broken_in(3);
  auto second = monitored(scripted(other), options{with_clock{run_clock{&other}}}, basic_step_timer<>{}, stop_at_step{4});
  (void)second.run_to_completion();
  step_times const& found = second.hook<basic_step_timer<>>().times();
  CHECK(other.sessions == 2);
  CHECK(found.steps.count() == 6);   // 2, then 4 from the beginning
  CHECK(found.jitter.count() == 4);  // 1, then 3
}

TEST_CASE("a clock of its own; whole steps only read it twice; begin forgets") {
  struct counting {
    int* readings;
    [[nodiscard]] int now() const noexcept { return ++*readings; }
    static constexpr int ticks_per_second() noexcept { return 1; }
  };
  int readings = 0;
  world of;
  basic_step_timer hook{{.by_hook = false}, counting{&readings}};
  for (int i = 0; i < 2; ++i) {
    readings = 0;
    auto session = monitored(scripted(of), options{real_time{}}, std::ref(hook));
    (void)session.run_steps(5);
    CHECK(readings == 10);
    CHECK(hook.times().steps.count() == 5);
    CHECK(hook.times().places() == 0);
  }
}

TEST_CASE("no clock, or a negative deadline, is refused") {
  world of;
  CHECK(try_monitored(scripted(of), basic_step_timer<>{}).status().kind == error_kind::invalid_argument);
  CHECK(try_monitored(scripted(of), step_timer<>{{.deadline = -1}}).status().kind == error_kind::invalid_argument);
  CHECK(try_monitored(scripted(of), step_timer<>{{}, {.log = false}}).status().kind == error_kind::invalid_argument);
}

TEST_CASE("the report comes in end: a table, and numbers for a writer") {
  struct numbers {
    std::vector<std::string> all;
    void add_scalar(std::string_view tag, double value, step_number step) { all.push_back(std::string(tag) + " " + number(value) + " " + number(step)); }
  };
  world of;
  of.ticks_a_run = 8;
  std::vector<std::string> table;
  numbers written_numbers;
  auto session = monitored(scripted(of), options{with_clock{run_clock{&of}}}, named<"worker">(work{&of, 2}),
                           step_timer<session_clock>{{.deadline = 0.001}, {.log = [&](std::string_view line) { table.emplace_back(line); }, .writer = written_numbers}});
  (void)session.run_steps(3);
  CHECK(table.empty());
  session.close();
  CHECK(table[0] == "step times at step 3: 3 steps");
  CHECK(table[2] == "step         10.000 ms   10.000 ms   10.000 ms   10.000 ms   10.000 ms");
  CHECK(table[4] == "3 steps missed the deadline, 3 in a row");
  CHECK(contains(joined(table), "worker" + std::string(38, ' ') + "6.000 ms in 3 calls, longest 2.000 ms"));
  CHECK(contains(joined(table), "the session" + std::string(32, ' ') + "24.000 ms in 3 calls"));
  CHECK(written_numbers.all[0] == "step_time/p50 0.01 3");
  CHECK(written_numbers.all[3] == "step_time/max 0.01 3");
  CHECK(written_numbers.all.back() == "step_time/misses 3 3");
}
