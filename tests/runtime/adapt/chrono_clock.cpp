// SPDX-License-Identifier: BSL-1.0
#include <chrono>

#include <tautline/adapt/chrono.hpp>

#include "../core/support.hpp"

using namespace support;
using namespace std::chrono_literals;
using tautline::clock_type;
using tautline::monitored;
using tautline::options;
using tautline::steady_clock_ticks;
using tautline::thread_sleeper;
using tautline::with_clock;
using tautline::with_sleep;

static_assert(clock_type<steady_clock_ticks>);
static_assert(steady_clock_ticks::ticks_per_second() == 1'000'000'000);
static_assert(steady_clock_ticks::ticks(2ms) == 2'000'000);
static_assert(steady_clock_ticks::ticks(std::chrono::duration<double>(0.5)) == 500'000'000);
static_assert(steady_clock_ticks::ticks(-1ms) == 0);

TEST_CASE("the ticks are those of the steady clock, and do not go back") {
  auto const before = std::chrono::steady_clock::now().time_since_epoch();
  std::uint64_t const now = steady_clock_ticks::now();
  auto const after = std::chrono::steady_clock::now().time_since_epoch();
  CHECK(now >= static_cast<std::uint64_t>(std::chrono::nanoseconds(before).count()));
  CHECK(now <= static_cast<std::uint64_t>(std::chrono::nanoseconds(after).count()));
}

TEST_CASE("the sleeper sleeps milliseconds") {
  std::uint64_t const before = steady_clock_ticks::now();
  thread_sleeper{}(3);
  CHECK(steady_clock_ticks::now() - before >= steady_clock_ticks::ticks(3ms));
}

struct stops_at {
  static constexpr bool stateless = true;
  long last;
  void after_run(auto& ctx) const {
    if (ctx.step() >= last) ctx.request_stop("enough");
  }
};

TEST_CASE("a session takes both, and a budget as a duration") {
  world of;
  of.in_run = [&](long run) {
    thread_sleeper{}(1);
    return run == 3 ? tautline::status{error_kind::aborted, "broken"} : tautline::status{};
  };
  auto session = monitored(backend(of), options{with_clock{steady_clock_ticks{}}, with_sleep{thread_sleeper{}}}, stops_at{5});
  std::uint64_t const before = steady_clock_ticks::now();
  (void)session.run_for(1h);
  CHECK(of.runs > 3);
  CHECK(steady_clock_ticks::now() - before >= steady_clock_ticks::ticks(50ms));  // the wait before the new session

  world other;
  other.in_run = [](long) { return thread_sleeper{}(1), tautline::status{}; };
  auto endless = monitored(backend(other), options{with_clock{steady_clock_ticks{}}}, stops_at{1000});
  auto const done = endless.run_for(20ms);
  CHECK(done.steps <= 20);  // each takes a millisecond at least
}
