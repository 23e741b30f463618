// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <limits>
#include <stdexcept>

#include <tautline/hooks/learning_rate_schedule.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "memory_store.hpp"
#include "support.hpp"

using namespace support;
using namespace tautline;
using support::target;

namespace {

/// The rates that a training was fed with, by the value that its update returns.
auto graph_of_rates() {
  return static_graph{}.variable<"sum">(0.0).placeholder<"rate">(0.5F).update<"train", "sum", "rate">([](double& sum, float rate) {
    sum += static_cast<double>(rate);
    return rate;
  });
}
template <class Session>
std::vector<float> rates(Session& session, int steps) {
  std::vector<float> all;
  for (int i = 0; i < steps; ++i) {
    auto const result = session.run(target<"train">, fetch<"train">);
    all.push_back(result[fetch<"train">]);
  }
  return all;
}

struct scale_publisher {
  using provides = tautline::provides<"rate_scale", float>;
  static constexpr bool stateless = true;
  step_number at;
  float scale;
  void after_run(auto& ctx) const {
    if (ctx.step() == at) ctx.template publish<"rate_scale">(scale);
  }
};

struct halving {
  int calls = 0;
  float operator()(step_number) noexcept { return 1.0F / static_cast<float>(1 << calls++); }
  auto state() { return fields{field<"calls">(calls)}; }
};

static_assert(schedules::constant{0.25}(77) == 0.25);
static_assert(schedules::step_decay{.initial = 1, .factor = 0.5, .every = 10}(10) == 1);
static_assert(schedules::step_decay{.initial = 1, .factor = 0.5, .every = 10}(11) == 0.5);
static_assert(schedules::step_decay{.initial = 1, .factor = 0.5, .every = 10}(31) == 0.125);
static_assert(schedules::piecewise{{{1, 0.1}, {10, 0.01}, {20, 0.001}}}(9) == 0.1);
static_assert(schedules::cosine{.initial = 1, .last = 0.5, .steps = 10}(11) == 0.5);

constexpr bool close(double a, double b) { return std::fabs(a - b) <= 4e-15 * std::fabs(b); }

}  // namespace

TEST_CASE("the schedules at their corners") {
  schedules::exponential const smooth{.initial = 2, .factor = 0.1, .every = 100};
  CHECK(smooth(1) == 2);
  CHECK(smooth(101) == 0.2);
  CHECK(close(smooth(51), 2 * std::sqrt(0.1)));
  schedules::cosine const wave{.initial = 0.8, .last = 0.2, .steps = 110, .warm_up = 10};
  CHECK(wave(1) == doctest::Approx(0.08));
  CHECK(wave(5) == doctest::Approx(0.4));
  CHECK(wave(10) == 0.8);
  CHECK(wave(11) == 0.8);
  CHECK(wave(61) == 0.5);
  CHECK(wave(111) == 0.2);
  CHECK(wave(1'000'000) == 0.2);
  CHECK(wave(36) == doctest::Approx(0.2 + 0.3 * (1 + std::cos(std::acos(-1.0) / 4))));
  schedules::piecewise const pieces{{{5, 0.1}, {8, 0.01}}};
  CHECK(pieces(1) == 0.1);
  CHECK(pieces(7) == 0.1);
  CHECK(pieces(8) == 0.01);
  CHECK(schedules::cosine{.initial = 1, .steps = 0}(1) == 0);            // nothing to do
  CHECK(schedules::step_decay{.initial = 1, .every = 0}(100) == 1);     // nonsense gives no division by zero
  CHECK(std::isfinite(schedules::exponential{.initial = 1, .every = 0}(100)));
}

TEST_CASE("their functions are as good as the library's") {
  for (int i = 0; i <= 1000; ++i) {
    double const t = i / 1000.0;
    CHECK(std::fabs(detail::cosine_of_half_turns(t) - std::cos(detail::pi * t)) < 5e-16);
    for (double base : {0.001, 0.1, 0.5, 0.96, 0.999999, 1.0, 1.5, 30.0}) {
      CHECK(close(detail::part_power(base, t), std::pow(base, t)));
    }
  }
  for (int i = 0; i < 60; ++i) CHECK(close(detail::whole_power(0.96, i), std::pow(0.96, i)));
}

TEST_CASE("every run is fed, with the step of the run in progress") {
  auto session = monitored(graph_of_rates(), learning_rate_schedule<"rate">([](step_number step) { return static_cast<float>(step); }));
  CHECK(rates(session, 4) == std::vector<float>{1, 2, 3, 4});
  auto other = monitored(graph_of_rates(), options{initial_step{10}},
                         learning_rate_schedule<"rate">(schedules::step_decay{.initial = 1, .factor = 0.5, .every = 6}));
  CHECK(rates(other, 4) == std::vector<float>{0.5, 0.5, 0.25, 0.25});
  CHECK(other.hook<learning_rate_schedule_hook<"rate", "", schedules::step_decay>>().rate() == 0.25);
}

TEST_CASE("after a recovery the step counts, not the calls") {
  world of;
  of.in_run = broken_in(3);
  of.first_step = 2;
  std::vector<step_number> asked;
  auto session = monitored(scripted(of), learning_rate_schedule<"loss">([&](step_number step) {
                             asked.push_back(step);
                             return 1.0;
                           }),
                           stop_at_step{6});
  (void)session.run_to_completion();
  CHECK(asked == std::vector<step_number>{3, 4, 5, 3, 4, 5, 6});  // the new session starts where it says
}

TEST_CASE("the rate is scaled by the last publication, from the next run on") {
  auto session = monitored(graph_of_rates(), learning_rate_schedule<"rate", "rate_scale">(schedules::constant{8}), scale_publisher{2, 0.25F});
  CHECK(rates(session, 4) == std::vector<float>{8, 8, 2, 2});
  auto& hook = session.hook<learning_rate_schedule_hook<"rate", "rate_scale", schedules::constant>>();
  CHECK(hook.scale() == 0.25);
  CHECK(hook.rate() == 2);
}

TEST_CASE("begin forgets the scale") {
  auto hook = learning_rate_schedule<"rate", "rate_scale">(schedules::constant{8});
  {
    auto session = monitored(graph_of_rates(), std::ref(hook), scale_publisher{1, 0.5F});
    CHECK(rates(session, 2) == std::vector<float>{8, 4});
  }
  auto session = monitored(graph_of_rates(), std::ref(hook), scale_publisher{9, 0.5F});
  CHECK(rates(session, 2) == std::vector<float>{8, 8});
}

TEST_CASE("the scale and a schedule's own state are resumed; the scale outlives a way back") {
  memory_store store;
  {
    auto session = monitored(graph_of_rates(), learning_rate_schedule<"rate", "rate_scale">(halving{}), scale_publisher{2, 0.5F},
                             memory_saver{&store, every_steps{3}});
    CHECK(rates(session, 4) == std::vector<float>{1, 0.5F, 0.125F, 0.0625F});
  }
  CHECK(store.step == 3);
  bool kept = false;
  for (auto const& [name, value] : store.values) {
    if (contains(name, "/scale")) kept = value.kept;
    if (contains(name, "/schedule/calls")) CHECK(store.get<int>(name) == 3);
  }
  CHECK(kept);
  auto session = monitored(graph_of_rates(), options{restore_from{store}},
                           learning_rate_schedule<"rate", "rate_scale">(halving{}), scale_publisher{9, 0.5F});
  CHECK(rates(session, 2) == std::vector<float>{0.0625F, 0.03125F});
}

TEST_CASE("a schedule without state needs none in a session that saves") {
  memory_store store;
  auto session = monitored(graph_of_rates(), learning_rate_schedule<"rate">(schedules::constant{1}), memory_saver{&store, every_steps{1}});
  CHECK(rates(session, 1) == std::vector<float>{1});
  for (auto const& [name, value] : store.values) CHECK_FALSE(contains(name, "learning_rate"));
}

TEST_CASE("NaN is fed as it is, and a NaN scale too: to find it is another hook's task") {
  auto session = monitored(graph_of_rates(), learning_rate_schedule<"rate", "rate_scale">(schedules::constant{1}),
                           scale_publisher{1, std::numeric_limits<float>::quiet_NaN()});
  auto const fed = rates(session, 2);
  CHECK(fed[0] == 1);
  CHECK(std::isnan(fed[1]));
}

TEST_CASE("it is for loops that must not wait, where the schedule is") {
  auto session = monitored(graph_of_rates(), options{real_time{}}, learning_rate_schedule<"rate">(schedules::cosine{.initial = 1, .steps = 9}));
  CHECK(rates(session, 1) == std::vector<float>{1});
  static_assert(!learning_rate_schedule_hook<"rate", "", float (*)(step_number)>::real_time);
}

TEST_CASE("all of it in a constant expression") {
  static_assert([] {
    learning_rate_schedule_hook<"rate", "", schedules::cosine> hook(schedules::cosine{.initial = 1, .steps = 10, .warm_up = 4});
    struct {
      [[nodiscard]] constexpr step_number step() const { return 2; }
    } ctx;
    (void)hook.before_run(ctx);
    return hook.rate();
  }() == 0.5);
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("what the schedule throws is the hook's error, and nothing is run") {
  auto session = monitored(graph_of_rates(), learning_rate_schedule<"rate">([](step_number step) -> float {
                             if (step == 2) throw std::runtime_error("no more rates");
                             return 1;
                           }));
  CHECK(outcome_of([&] { (void)session.run_to_completion(target<"train">); }) == "threw no more rates");
  CHECK(session.status().where == callback::before_run);
  CHECK(session.status().step == 2);
}
#endif
