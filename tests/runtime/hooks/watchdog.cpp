// SPDX-License-Identifier: BSL-1.0
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <stdexcept>

#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/hooks/watchdog.hpp>

#include "memory_store.hpp"
#include "support.hpp"

using namespace support;
using namespace tautline;
using support::target;

namespace {

struct manual_clock {
  std::uint64_t* ticks;
  [[nodiscard]] std::uint64_t now() const { return *ticks; }
  static constexpr std::uint64_t ticks_per_second() { return 1000; }
};

std::string said(overdue const& late) {
  char words[300];
  late.write_to(words, sizeof words);
  return late ? words : "";
}

/// Takes its time in a callback, and lets the watchdog look before and after.
template <class Category = void>
struct slow {
  using category = Category;
  static constexpr bool stateless = true;
  std::function<void()> take{};
  callback where = callback::after_run;
  step_number at = 0;

  void after_create_session(auto&) const { if (where == callback::after_create_session) take(); }
  void before_run(auto& ctx) const { if (where == callback::before_run && ctx.step() == at) take(); }
  void after_run(auto& ctx) const { if (where == callback::after_run && ctx.step() == at) take(); }
  void end(auto&) const { if (where == callback::end) take(); }
};

struct slow_saver {
  using category = saver;
  static constexpr bool stateless = true;
  std::function<void()> take;
  bool wants_save() const { return true; }
  void save(training_state const&, life&) const { take(); }
  void close() {}
};

/// A training over a clock that only moves when the test says so.
struct scene {
  std::uint64_t ticks = 0;
  std::vector<std::string> lines;
  phase_limits limits{.creation = 5, .first_step = 3, .step = 1, .evaluation = 2, .save = 4};

  auto dog(on_overdue action = on_overdue::report) {
    return watchdog<manual_clock>{limits,
                                  {.action = action, .log = [this](std::string_view line) { lines.emplace_back(line); }, .thread = false},
                                  manual_clock{&ticks}};
  }
  /// What is told when so many milliseconds pass.
  template <class Dog>
  void pass(Dog& watching, std::uint64_t milliseconds) {
    (void)watching.poll();
    ticks += milliseconds;
    (void)watching.poll();
    (void)watching.poll();  // once is enough
  }
};

}  // namespace

TEST_CASE("each phase has its limit, and is told once, with what is in progress") {
  scene of;
  auto dog = of.dog();
  world backing;
  SUBCASE("a step, in the run") {
    backing.in_run = [&](long run) {
      if (run == 2) of.pass(dog, 1001);
      return tautline::status{};
    };
    auto session = monitored(scripted(backing), std::ref(dog));
    (void)session.run_steps(3);
    CHECK(of.lines == lines{"watchdog: step 2 has taken 1.001 s, the limit is 1 s: in run"});
  }
  SUBCASE("not more than the limit") {
    backing.in_run = [&](long run) {
      of.pass(dog, run == 1 ? 3000 : 1000);
      return tautline::status{};
    };
    auto session = monitored(scripted(backing), std::ref(dog));
    (void)session.run_steps(5);
    CHECK(of.lines.empty());
  }
  SUBCASE("the first step of a session, also after a recovery") {
    backing.in_run = [&](long run) {
      of.pass(dog, run == 1 || run == 4 ? 3500 : 900);
      return run == 3 ? tautline::status{error_kind::aborted, "broken"} : tautline::status{};
    };
    auto session = monitored(scripted(backing), std::ref(dog));
    (void)session.run_steps(2);
    CHECK(of.lines == lines{"watchdog: first step 1 has taken 3.5 s, the limit is 3 s: in run"});
    (void)session.run_steps(1);
    CHECK(of.lines.size() == 2);
  }
  SUBCASE("the making of a session") {
    backing.in_open = [&](long) {
      of.pass(dog, 6000);
      return tautline::status{};
    };
    auto session = monitored(scripted(backing), std::ref(dog));
    CHECK(of.lines == lines{"watchdog: creation at step 0 has taken 6 s, the limit is 5 s: in create_session"});
  }
  SUBCASE("a hook that is told of a session") {
    auto session = monitored(scripted(backing), named<"slow one">(slow<>{[&] { of.pass(dog, 6000); }, callback::after_create_session}), std::ref(dog));
    CHECK(of.lines == lines{"watchdog: creation at step 0 has taken 6 s, the limit is 5 s: in after_create_session of slow one"});
  }
  SUBCASE("a hook in a step") {
    for (callback where : {callback::before_run, callback::after_run}) {
      of.lines.clear();
      auto session = monitored(scripted(backing), named<"slow one">(slow<>{[&] { of.pass(dog, 2000); }, where, 2}), std::ref(dog));
      (void)session.run_steps(3);
      CHECK(of.lines == lines{"watchdog: step 2 has taken 2 s, the limit is 1 s: in " + std::string(to_string(where)) + " of slow one"});
    }
  }
  SUBCASE("an evaluation is none of the step's time") {
    auto session = monitored(scripted(backing), named<"eval">(slow<evaluating>{[&] { of.pass(dog, 1900); }, callback::after_run, 2}), std::ref(dog));
    (void)session.run_steps(3);
    CHECK(of.lines.empty());
  }
  SUBCASE("an evaluation") {
    auto session = monitored(scripted(backing), named<"eval">(slow<evaluating>{[&] { of.pass(dog, 2100); }, callback::after_run, 2}), std::ref(dog));
    (void)session.run_steps(3);
    CHECK(of.lines == lines{"watchdog: evaluation at step 2 has taken 2.1 s, the limit is 2 s: in after_run of eval"});
  }
  SUBCASE("an evaluation at the end, and an end without limit") {
    auto session = monitored(scripted(backing), slow<>{[&] { of.pass(dog, 99'000); }, callback::end},
                             named<"eval">(slow<evaluating>{[&] { of.pass(dog, 2100); }, callback::end}), std::ref(dog));
    (void)session.run_steps(1);
    session.close();
    CHECK(of.lines == lines{"watchdog: evaluation at step 1 has taken 2.1 s, the limit is 2 s: in end of eval"});
  }
  SUBCASE("the caller may take his time between two steps") {
    auto session = monitored(scripted(backing), std::ref(dog));
    (void)session.run_steps(2);
    of.pass(dog, 99'000);
    (void)session.run_steps(1);
    session.close();
    of.pass(dog, 99'000);
    CHECK(of.lines.empty());
  }
  SUBCASE("after an error nothing is late") {
    backing.in_run = [&](long) { return tautline::status{error_kind::internal, "broken"}; };
    auto session = monitored(scripted(backing), std::ref(dog));
    (void)session.try_run();
    of.pass(dog, 99'000);
    CHECK(of.lines.empty());
  }
}

TEST_CASE("a save") {
  scene of;
  auto dog = of.dog();
  world backing;
  auto session = monitored(scripted(backing), named<"saver">(slow_saver{[&] { of.pass(dog, 4500); }}), std::ref(dog));
  (void)session.run_steps(1);
  CHECK(of.lines == lines{"watchdog: save at step 1 has taken 4.5 s, the limit is 4 s: in save of saver"});
  CHECK(dog.reports() == 1);
}

TEST_CASE("two steps that are late are told twice, a long one once") {
  scene of;
  auto dog = of.dog();
  world backing;
  backing.in_run = [&](long run) {
    if (run > 1) of.pass(dog, 1500);
    return tautline::status{};
  };
  auto session = monitored(scripted(backing), std::ref(dog));
  (void)session.run_steps(3);
  CHECK(dog.reports() == 2);
  CHECK(of.lines.size() == 2);
}

TEST_CASE("it asks for a stop, in its name") {
  scene of;
  auto dog = of.dog(on_overdue::request_stop);
  world backing;
  backing.in_run = [&](long run) {
    if (run == 3) of.pass(dog, 1500);
    return tautline::status{};
  };
  auto session = monitored(scripted(backing), std::ref(dog), stop_at_step{9});
  CHECK(session.run_to_completion().steps == 3);
  CHECK(written(session.stop().reason) == "the step has taken more than 1 s");
  CHECK(contains(session.stop().by, "watchdog"));
}

TEST_CASE("limits that make no sense are refused") {
  for (phase_limits const limits : {phase_limits{}, phase_limits{.step = -1, .save = 1}, phase_limits{.step = std::numeric_limits<double>::quiet_NaN()}}) {
    world backing;
    auto session = try_monitored(scripted(backing), watchdog{limits});
    CHECK(session.status().kind == error_kind::invalid_argument);
    CHECK(session.status().where == callback::begin);
  }
}

TEST_CASE("the clock of phases as a hook of its own, looked at by the caller; no heap, and real time") {
  phase_clock phases{{.step = 0.5}, 10};
  world backing;
  std::uint64_t ticks = 0;
  std::vector<std::string> told;
  backing.in_run = [&](long run) {
    (void)phases.look(ticks);
    ticks += run == 1 ? 100 : 6;
    if (overdue const late = phases.look(ticks)) told.push_back(said(late));
    return tautline::status{};
  };
  auto session = monitored(scripted(backing), options{real_time{}}, std::ref(phases));
  (void)session.run_steps(2);
  CHECK(told == lines{"step 2 has taken 0.6 s, the limit is 0.5 s: in run"});
  CHECK(phases.phase() == training_phase::none);
  static_assert(sizeof(phase_clock) == 88);
}

TEST_CASE("steps beyond 32 bits are told in full") {
  phase_clock phases{{.first_step = 1}, 1};
  world backing;
  backing.first_step = 5'000'000'000;
  std::string told;
  backing.in_run = [&](long) {
    (void)phases.look(0);
    told = said(phases.look(2));
    return tautline::status{};
  };
  auto session = monitored(scripted(backing), std::ref(phases));
  (void)session.run_steps(1);
  CHECK(told == "first step 5000000001 has taken 2 s, the limit is 1 s: in run");
}

TEST_CASE("with its thread: a step that hangs is told while it hangs") {
  world backing;
  std::atomic<bool> told{false};
  std::string hook;
  backing.in_run = [&](long run) {
    auto const begin = std::chrono::steady_clock::now();
    while (run == 2 && !told && std::chrono::steady_clock::now() - begin < std::chrono::seconds(60)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return tautline::status{};
  };
  auto session = monitored(scripted(backing), watchdog{{.step = 0.05}, {.action = on_overdue::request_stop, .log = false, .call = [&](overdue const& late) {
                                                                         CHECK(late.seconds > 0.05);
                                                                         CHECK(late.step == 2);
                                                                         told = true;
                                                                       }}});
  auto const done = session.run_to_completion();
  CHECK(told);
  CHECK(done.steps == 2);
  session.close();
  CHECK(session.hook<watchdog<>>().reports() == 1);
}

TEST_CASE("abort ends a process that hangs") {
  pid_t const id = ::fork();
  REQUIRE(id >= 0);
  if (id == 0) {
    std::signal(SIGABRT, SIG_DFL);
    world backing;
    backing.in_run = [&](long) {
      ::sleep(60);
      return tautline::status{};
    };
    auto session = monitored(scripted(backing), watchdog{{.first_step = 0.02}, {.action = on_overdue::abort, .log = false}});
    (void)session.try_run();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(id, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}

TEST_CASE("a second training with the same watchdog begins afresh") {
  watchdog dog{{.step = 60}};
  for (int i = 0; i < 3; ++i) {
    world backing;
    auto session = monitored(scripted(backing), std::ref(dog));
    (void)session.run_steps(2);
    CHECK(dog.reports() == 0);
  }
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("an error in an evaluation, and in a step: nothing is late afterwards, and the thread ends") {
  scene of;
  auto dog = of.dog();
  world backing;
  auto session = monitored(scripted(backing), slow<evaluating>{[] { throw std::runtime_error("broken"); }, callback::after_run, 2}, std::ref(dog));
  CHECK(outcome_of([&] { (void)session.run_steps(3); }) == "threw broken");
  of.pass(dog, 99'000);
  CHECK(of.lines.empty());
}
#endif
