// SPDX-License-Identifier: BSL-1.0
#include <cstdlib>

#include <tautline/hooks/global_step_waiter.hpp>

#include "support.hpp"

using namespace support;
using tautline::global_step_waiter;
using tautline::has_global_step;
using tautline::monitored;

namespace {

/// The least that a backend with a global step offers.
struct shared_step : backend {
  shared_step(world& given, step_number& step) : backend(given), step_of_all(&step) {}
  [[nodiscard]] step_number global_step() const { return *step_of_all; }
  step_number* step_of_all;
};
static_assert(has_global_step<shared_step>);
static_assert(!has_global_step<backend>);

}  // namespace

TEST_CASE("it waits in the first run, half a second at a time, until the step has come") {
  world of;
  step_number step = 0;
  std::vector<std::uint32_t> sleeps;
  lines said;
  auto session = monitored(shared_step(of, step), global_step_waiter{1200,
                                                                     [&](std::uint32_t milliseconds) {
                                                                       sleeps.push_back(milliseconds);
                                                                       step += 300;
                                                                     },
                                                                     [&](std::string const& line) { said.push_back(line); }},
                           probe{&of, "p"});
  CHECK(sleeps.empty());
  (void)session.run();
  CHECK(sleeps == std::vector<std::uint32_t>(4, 500));
  CHECK(said == lines{"global_step_waiter: waiting for step 1200, it is 0"});
  CHECK(of.runs == 1);
  step = 0;
  (void)session.run();
  CHECK(sleeps.size() == 4);
}

TEST_CASE("it says a line after each 1000 steps") {
  world of;
  step_number step = 5;
  lines said;
  auto session = monitored(shared_step(of, step), global_step_waiter{2600, [&](std::uint32_t) { step += 500; },
                                                                     [&](std::string const& line) { said.push_back(line); }});
  (void)session.run();
  CHECK(said == lines{"global_step_waiter: waiting for step 2600, it is 5", "global_step_waiter: waiting for step 2600, it is 1005",
                      "global_step_waiter: waiting for step 2600, it is 2005"});
}

TEST_CASE("a step that has come already is not waited for") {
  world of;
  step_number step = 10;
  lines said;
  auto session = monitored(shared_step(of, step), global_step_waiter{10, [](std::uint32_t) { FAIL("slept"); },
                                                                     [&](std::string const& line) { said.push_back(line); }});
  (void)session.run();
  CHECK(said.empty());
}

TEST_CASE("a stop ends the wait, the run in progress still happens") {
  world of;
  step_number step = 0;
  int sleeps = 0;
  std::function<void()> stop;
  auto session = monitored(shared_step(of, step), global_step_waiter{10, [&](std::uint32_t) {
                                                                       if (++sleeps == 3) stop();
                                                                     }});
  stop = [&] { session.request_stop("enough"); };
  (void)session.run_to_completion();
  CHECK(sleeps == 3);
  CHECK(of.runs == 1);
  CHECK(session.stop().source == tautline::stop_source::caller);
}

TEST_CASE("a stop that another hook asked for in the same run ends the wait") {
  world of;
  step_number step = 0;
  int sleeps = 0;
  auto session = monitored(shared_step(of, step), probe{&of, "p",
                                                        [](callback where, life& at) {
                                                          if (where == callback::before_run) at.request_stop("no need");
                                                        }},
                           global_step_waiter{10, [&](std::uint32_t) {
                                                if (++sleeps > 3) std::abort();  // waits for ever
                                              }});
  (void)session.run_to_completion();
  CHECK(sleeps == 0);
}

TEST_CASE("a recovery does not wait again, a second begin does") {
  world of;
  step_number step = 0;
  int sleeps = 0;
  global_step_waiter hook{1, [&](std::uint32_t) { ++sleeps, ++step; }};
  of.in_run = broken_in(2);
  {
    auto session = monitored(shared_step(of, step), std::ref(hook));
    (void)session.run();
    CHECK(sleeps == 1);
    step = 0;
    (void)session.run();
    CHECK(of.sessions == 2);
    CHECK(sleeps == 1);
  }
  auto session = monitored(shared_step(of, step), std::ref(hook));
  (void)session.run();
  CHECK(sleeps == 2);
}

TEST_CASE("without a global step it looks at the completed steps") {
  world of;
  of.first_step = 3;
  int sleeps = 0;
  std::function<void()> stop;
  auto const sleeper = [&](std::uint32_t) { ++sleeps, stop(); };
  {
    auto session = monitored(backend(of), global_step_waiter{3, sleeper});
    (void)session.run();
    CHECK(sleeps == 0);
  }
  auto session = monitored(backend(of), global_step_waiter{4, sleeper});
  stop = [&] { session.request_stop("nobody else advances it"); };
  (void)session.run();
  CHECK(sleeps == 1);
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("what the sleeper throws ends the training before the run") {
  world of;
  step_number step = 0;
  auto session = monitored(shared_step(of, step), global_step_waiter{10, [](std::uint32_t) { throw 5; }});
  CHECK_THROWS_AS((void)session.run(), int);
  CHECK(of.runs == 0);
  CHECK(session.status().where == callback::before_run);
}
#endif
