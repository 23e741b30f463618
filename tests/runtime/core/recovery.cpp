// SPDX-License-Identifier: BSL-1.0
#include <stdexcept>

#include "support.hpp"

// Recovery: what is recovered, how often, how it waits, and what hooks are told.

namespace {

using namespace support;
using tautline::every_steps;
using tautline::max_recoveries;
using tautline::monitored;
using tautline::named;
using tautline::options;
using tautline::try_monitored;
using tautline::with_clock;
using tautline::with_sleep;

using action = std::function<void(callback, life&)>;

tautline::status broken(char const* message = "gone") { return {error_kind::aborted, message}; }

/// Runs `first` to `last` fail.
auto failing_runs(long first, long last) {
  return [=](long run) { return run >= first && run <= last ? broken() : tautline::status{}; };
}

// --- what happens ----------------------------------------------------------------------------------------------------

TEST_CASE("hooks are told before the broken session is closed, and again when there is a new one; begin is not repeated") {
  world of;
  of.in_run = failing_runs(2, 2);
  auto session = monitored(backend{of}, probe{&of, "a"}, probe{&of, "b"}, stop_after{2});
  (void)session.run();
  of.trace.clear();
  (void)session.run();
  CHECK(joined(of.trace) ==
        joined({"before_run a step=2", "before_run b step=2", "run 2", "on_error a aborted", "on_error b aborted",
                "session_closed 1", "session 2", "after_create_session a", "after_create_session b",
                "before_run a step=1", "before_run b step=1", "run 3", "after_run a step=1 loss=1.5",
                "after_run b step=1 loss=1.5"}));
  CHECK_FALSE(session.status());  // a recovery leaves no error behind
  CHECK(session.attached_errors().count() == 0);
}

TEST_CASE("aborted and unavailable are recovered, as a status or as an exception, and nothing else is") {
  for (int kind = 1; kind <= static_cast<int>(error_kind::nan); ++kind) {
    auto const failure = static_cast<error_kind>(kind);
    CAPTURE(to_string(failure));
    if (failure == error_kind::out_of_range) continue;
    bool const recovered = failure == error_kind::aborted || failure == error_kind::unavailable;
    for (bool const thrown : {false, true}) {
      world of;
      of.in_run = [=](long run) -> tautline::status {
        if (run != 1) return {};
        tautline::error happened;
        happened.kind = failure;
        if (thrown) tautline::detail::raise(happened);
        return {failure, "failed"};
      };
      auto session = monitored(backend{of}, probe{&of, "a"});
      CHECK(static_cast<bool>(session.try_run()) == recovered);
      CHECK(of.sessions == (recovered ? 2 : 1));
      CHECK(of.runs == (recovered ? 2 : 1));
    }
  }
}

TEST_CASE("a type of the user's is recovered by its kind") {
  struct lost_worker : tautline::aborted_error {};
  world of;
  of.in_run = [](long run) -> tautline::status {
    if (run == 1) throw lost_worker();
    return {};
  };
  auto session = monitored(backend{of}, probe{&of, "a"});
  CHECK(session.run());
  CHECK(of.sessions == 2);
}

TEST_CASE("a hook's error is not recovered, whatever its kind") {
  for (callback const asked : {callback::before_run, callback::after_run, callback::after_create_session, callback::begin}) {
    CAPTURE(to_string(asked));
    for (bool const thrown : {false, true}) {
      world of;
      auto session = try_monitored(backend{of}, probe{&of, "a", [=](callback where, life& at) {
                                                        if (where != asked) return;
                                                        if (thrown) throw tautline::aborted_error("a hook's");
                                                        at.fail(error_kind::aborted, "a hook's");
                                                      }});
      (void)session.try_run();
      CHECK(session.status().kind == error_kind::aborted);
      CHECK_FALSE(session.is_open());
      CHECK(of.sessions <= 1);
    }
  }
}

TEST_CASE("a run that succeeded is never repeated, also when a hook fails behind it") {
  world of;
  auto session = monitored(backend{of}, probe{&of, "a", [](callback where, life&) {
                                                if (where == callback::after_run) throw tautline::aborted_error();
                                              }});
  CHECK_THROWS_AS((void)session.run(), tautline::aborted_error);
  CHECK(of.runs == 1);
  CHECK(session.completed_steps() == 1);
}

// --- how often -------------------------------------------------------------------------------------------------------

TEST_CASE("five failures in a row are recovered, the sixth is the error") {
  world of;
  SUBCASE("five") {
    of.in_run = failing_runs(1, 5);
    auto session = monitored(backend{of}, probe{&of, "a"});
    CHECK(session.run());
    CHECK(of.sessions == 6);
  }
  SUBCASE("six") {
    of.in_run = failing_runs(1, 6);
    auto session = monitored(backend{of}, probe{&of, "a"});
    CHECK_THROWS_AS((void)session.run(), tautline::aborted_error);
    CHECK(of.sessions == 6);
    CHECK(of.runs == 6);
    CHECK(of.trace[of.trace.size() - 3] == "on_error a aborted");  // once for the last failure, too
    CHECK(of.trace[of.trace.size() - 2] == "close a");
    CHECK(of.trace[of.trace.size() - 1] == "session_closed 6");
    CHECK(of.trace[of.trace.size() - 4] == "run 6");
  }
}

TEST_CASE("max_recoveries bounds them, also to none") {
  for (std::uint8_t const most : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{3}, std::uint8_t{200}}) {
    CAPTURE(most);
    world of;
    of.in_run = failing_runs(1, 1000);
    auto session = monitored(backend{of}, options{max_recoveries{most}}, probe{&of, "a"});
    CHECK(session.try_run().error() == error_kind::aborted);
    CHECK(of.runs == most + 1);
  }
}

TEST_CASE("a raw run that succeeds resets the count") {
  world of;
  of.in_run = [](long run) { return run % 6 != 0 ? broken() : tautline::status{}; };  // five failures, one success
  auto session = monitored(backend{of}, named<"a">(probe{&of, "a"}));
  of.first_step = 0;
  for (int i = 0; i < 10; ++i) CHECK(session.run());
  CHECK(of.runs == 60);
}

TEST_CASE("a success behind which a hook sees an older step resets the count, too") {
  world of;
  of.first_step = 100;
  of.in_run = [&](long run) {
    of.first_step = run % 2 == 0 ? 100 : 99;
    return run % 3 != 0 ? broken() : tautline::status{};
  };
  auto session = monitored(backend{of}, probe{&of, "a"});
  for (int i = 0; i < 10; ++i) CHECK(session.run());
  CHECK(of.runs == 30);
}

/// Only runs with its target are steps.
struct stepping_backend : backend {
  using backend::backend;
  static constexpr auto step_target = tautline::fixed_string{"train"};
};

TEST_CASE("a run that is no step resets the count as well") {
  world of;
  of.in_run = [](long run) { return run % 6 != 0 ? broken() : tautline::status{}; };
  auto session = monitored(stepping_backend{of}, probe{&of, "a"});
  for (int i = 0; i < 4; ++i) CHECK(session.run(fetch<"loss">));
  CHECK(of.runs == 24);
  CHECK(session.completed_steps() == 0);
}

TEST_CASE("failures of the making count together with those of runs") {
  world of;
  of.in_run = failing_runs(2, 2);
  of.in_open = [](long attempt) { return attempt >= 2 && attempt <= 5 ? broken() : tautline::status{}; };
  SUBCASE("five together are recovered") {
    auto session = monitored(backend{of}, probe{&of, "a"});
    CHECK(session.run());
    CHECK(session.run());
    CHECK(of.attempts == 6);
    CHECK(of.sessions == 2);
  }
  SUBCASE("one more is too much") {
    of.in_run = failing_runs(2, 3);
    auto session = monitored(backend{of}, probe{&of, "a"});
    CHECK(session.run());
    CHECK(session.try_run().error() == error_kind::aborted);
    CHECK(of.runs == 3);
  }
}

TEST_CASE("a session that cannot be made anew is given up after the bound, also if its runs had succeeded") {
  world of;
  std::vector<std::uint32_t> waited;
  of.in_run = failing_runs(4, 4);
  of.in_open = [](long attempt) { return attempt > 1 && attempt < 100 ? broken() : tautline::status{}; };
  auto session = monitored(
      backend{of}, options{with_sleep{[&](std::uint32_t ms) { waited.push_back(ms); }}}, probe{&of, "a"});
  CHECK(session.try_run_to_completion().error == error_kind::aborted);
  CHECK(of.attempts == 6);
  REQUIRE(waited.size() == 5);
  CHECK(waited[4] >= 800);
}

TEST_CASE("the making of the first session is recovered") {
  world of;
  of.in_open = [](long attempt) { return attempt <= 2 ? broken() : tautline::status{}; };
  auto session = monitored(backend{of}, probe{&of, "a"});
  CHECK(session.is_open());
  CHECK(joined(of.trace) ==
        joined({"begin a", "on_error a aborted", "on_error a aborted", "session 1", "after_create_session a"}));
  CHECK_FALSE(session.status());
}

TEST_CASE("a session that cannot be made is given up after the bound, and its error reaches the caller") {
  world of;
  of.in_open = [](long) { return broken("no server"); };
  CHECK_THROWS_AS((void)monitored(backend{of}, options{max_recoveries{2}}, probe{&of, "a"}), tautline::aborted_error);
  CHECK(joined(of.trace) ==
        joined({"begin a", "on_error a aborted", "on_error a aborted", "on_error a aborted", "close a"}));
  CHECK(of.attempts == 3);
}

TEST_CASE("when the making fails for another reason, that is the error") {
  world of;
  of.in_run = failing_runs(1, 1);
  of.in_open = [](long attempt) {
    return attempt == 2 ? tautline::status{error_kind::invalid_argument, "no such file"} : tautline::status{};
  };
  auto session = monitored(backend{of}, probe{&of, "a"});
  of.trace.clear();
  CHECK_THROWS_AS((void)session.run(), tautline::invalid_argument_error);
  CHECK(joined(of.trace) == joined({"before_run a step=1", "run 1", "on_error a aborted", "session_closed 1",
                                    "on_error a invalid_argument", "close a"}));
}

TEST_CASE("a new session whose after_create_session fails is closed, and that error is not recovered") {
  world of;
  of.in_run = failing_runs(1, 1);
  auto session = monitored(backend{of}, probe{&of, "a", [&](callback where, life&) {
                                                if (where == callback::after_create_session && of.sessions == 2) {
                                                  throw tautline::aborted_error("a hook's");
                                                }
                                              }});
  of.trace.clear();
  CHECK_THROWS_AS((void)session.run(), tautline::aborted_error);
  CHECK(joined(of.trace) ==
        joined({"before_run a step=1", "run 1", "on_error a aborted", "session_closed 1", "session 2",
                "after_create_session a", "on_error a aborted", "close a", "session_closed 2"}));
}

TEST_CASE("a hook that fails in on_error ends the recovery, with the session's error") {
  world of;
  of.in_run = failing_runs(1, 1);
  auto session = monitored(backend{of}, probe{&of, "a", [](callback where, life&) {
                                                if (where == callback::on_error) throw std::runtime_error("mine");
                                              }});
  CHECK_THROWS_AS((void)session.run(), tautline::aborted_error);
  CHECK(of.runs == 1);
  CHECK(of.trace.back() == "session_closed 1");
  CHECK(session.attached_errors().count() == 1);
  CHECK(written(session.attached_errors()[0].message) == "mine");
}

TEST_CASE("a broken session that cannot be closed is replaced nevertheless") {
  world of;
  of.in_run = failing_runs(1, 1);
  bool failed = false;
  of.in_close = [&]() -> tautline::status {
    if (failed) return {};
    failed = true;
    throw std::runtime_error("stuck");
  };
  auto session = monitored(backend{of}, probe{&of, "a"});
  CHECK(session.run());
  CHECK(of.sessions == 2);
  CHECK_FALSE(session.status());
}

// --- how it waits ----------------------------------------------------------------------------------------------------

TEST_CASE("it waits 100 ms, doubled each time up to 10 s, and jitter takes off at most half") {
  world of;
  std::vector<std::uint32_t> waited;
  of.in_run = failing_runs(1, 12);
  auto session = monitored(
      backend{of},
      options{max_recoveries{20}, with_clock{run_clock{&of}}, with_sleep{[&](std::uint32_t ms) {
                of.say("sleep");
                waited.push_back(ms);
              }}},
      probe{&of, "a"});
  CHECK(session.run());
  REQUIRE(waited.size() == 12);
  std::uint32_t most = 100;
  int shortened = 0;
  for (std::uint32_t const ms : waited) {
    CAPTURE(most);
    CHECK(ms <= most);
    CHECK(2 * ms >= most);
    if (ms != most) ++shortened;
    most = most * 2 < 10'000 ? most * 2 : 10'000;
  }
  CHECK(shortened > 6);  // jitter there is
  CHECK(waited[10] != waited[11]);
}

TEST_CASE("it waits between the closing of the old session and the making of the new one") {
  world of;
  of.in_run = failing_runs(1, 1);
  auto session = monitored(backend{of}, options{with_sleep{[&](std::uint32_t) { of.say("sleep"); }}}, probe{&of, "a"});
  of.trace.clear();
  CHECK(session.run());
  CHECK(of.trace[2] == "on_error a aborted");
  CHECK(of.trace[3] == "session_closed 1");
  CHECK(of.trace[4] == "sleep");
  CHECK(of.trace[5] == "session 2");
}

TEST_CASE("after a success the waiting begins anew") {
  world of;
  std::vector<std::uint32_t> waited;
  of.in_run = [](long run) { return run == 1 || run == 2 || run == 4 ? broken() : tautline::status{}; };
  auto session = monitored(
      backend{of}, options{with_sleep{[&](std::uint32_t ms) { waited.push_back(ms); }}}, probe{&of, "a"});
  CHECK(session.run());
  CHECK(session.run());
  REQUIRE(waited.size() == 3);
  CHECK(waited[1] > 100);
  CHECK(waited[2] <= 100);
}

TEST_CASE("there is no waiting where nothing is recovered") {
  world of;
  int sleeps = 0;
  of.in_run = failing_runs(1, 100);
  auto session = monitored(backend{of}, options{max_recoveries{2}, with_sleep{[&](std::uint32_t) { ++sleeps; }}},
                           probe{&of, "a"});
  CHECK_FALSE(session.try_run());
  CHECK(sleeps == 2);
}

// --- other ways to run -----------------------------------------------------------------------------------------------

TEST_CASE("evaluate, and runs that some or no hooks see, are recovered like any run") {
  world of;
  of.in_run = failing_runs(1, 1);
  auto session = monitored(backend{of}, probe{&of, "a"}, stop_after{9});
  of.trace.clear();
  lines expected;
  SUBCASE("evaluate") {
    auto const looked = session.evaluate(fetch<"loss">);
    CHECK(looked);
    CHECK(looked[fetch<"loss">] == 1.0f);
    CHECK(session.completed_steps() == 0);
    expected = {"raw run 1",  "on_error a aborted", "session_closed 1", "session 2", "after_create_session a",
                "raw run 2"};
  }
  SUBCASE("run_without_hooks") {
    CHECK(session.run_without_hooks());
    CHECK(session.completed_steps() == 1);
    expected = {"run 1", "on_error a aborted", "session_closed 1", "session 2", "after_create_session a", "run 2"};
  }
  SUBCASE("run_with") {
    CHECK(session.run_with<probe>());
    expected = {"before_run a step=1", "run 1",     "on_error a aborted",
                "session_closed 1",    "session 2", "after_create_session a",
                "before_run a step=1", "run 2",     "after_run a step=1 loss=1"};
  }
  CHECK(joined(of.trace) == joined(expected));
}

TEST_CASE("an evaluate that succeeds resets the count") {
  world of;
  of.in_run = [](long run) { return run % 6 != 0 ? broken() : tautline::status{}; };
  auto session = monitored(backend{of}, probe{&of, "a"});
  for (int i = 0; i < 3; ++i) CHECK(session.evaluate(fetch<"loss">));
  CHECK(of.runs == 18);
}

TEST_CASE("an evaluate that cannot be recovered closes the session") {
  world of;
  of.in_run = [](long) -> tautline::status { throw std::runtime_error("boom"); };
  auto session = monitored(backend{of}, probe{&of, "a"});
  of.trace.clear();
  CHECK_THROWS_WITH((void)session.evaluate(fetch<"loss">), "boom");
  CHECK(joined(of.trace) == joined({"raw run 1", "on_error a error", "close a", "session_closed 1"}));
}

TEST_CASE("the end of the input in evaluate stops nothing") {
  world of;
  of.input_length = 0;
  auto session = monitored(backend{of}, probe{&of, "a"});
  CHECK(session.evaluate(fetch<"loss">).end_of_input());
  CHECK_FALSE(session.should_stop());
  CHECK_FALSE(session.stop());
}

/// Looks at the session behind each run, by a raw run of its own.
struct looker {
  void after_run(auto& ctx) const { (void)ctx.session().run(fetch<"loss">); }
};

TEST_CASE("a hook's raw run is not recovered: its error is the hook's") {
  for (bool const thrown : {false, true}) {
    world of;
    of.in_run = [thrown](long run) -> tautline::status {
      if (run != 2) return {};
      if (thrown) throw tautline::aborted_error("gone");
      return broken();
    };
    auto session = monitored(backend{of}, named<"looker">(looker{}), probe{&of, "a"});
    CHECK_THROWS_AS((void)session.run(), tautline::aborted_error);
    CHECK(of.sessions == 1);
    CHECK(std::string(session.status().hook) == "looker");
    CHECK(session.status().where == callback::after_run);
  }
}

TEST_CASE("a raw run of the caller's that fails leaves the session open") {
  world of;
  of.in_run = failing_runs(2, 2);
  auto session = monitored(backend{of}, stop_after{5});
  CHECK(session.run());
  CHECK_THROWS_AS((void)session.raw().run(fetch<"loss">), tautline::aborted_error);
  CHECK(of.sessions == 1);
  CHECK(session.is_open());
}

// --- the step, and what follows it -----------------------------------------------------------------------------------

/// Acts when due.
struct acting {
  every_steps trigger;
  std::vector<step_number>* acted;
  void after_run(auto& ctx) const {
    if (ctx.due()) acted->push_back(ctx.step());
  }
};

TEST_CASE("the step goes back to that of the new session, and triggers follow") {
  world of;
  of.in_run = failing_runs(8, 8);
  std::vector<step_number> acted;
  auto session = monitored(backend{of}, acting{{3}, &acted}, stop_after{10});
  (void)session.run_steps(7);
  of.first_step = 4;  // the checkpoint
  CHECK(session.run_to_completion().steps == 10);
  CHECK(acted == std::vector<step_number>{3, 6, 6, 9});
}

/// Has no step of its own, and nothing to open or close.
struct quiet {
  world* of;
  [[nodiscard]] auto run(auto const&) const { return of->in_run(++of->runs); }
};

TEST_CASE("where the backend says no step, completed steps are kept") {
  world of;
  of.in_run = failing_runs(3, 3);
  auto session = monitored(quiet{&of}, options{tautline::initial_step{10}}, stop_after{14});
  CHECK(session.run_to_completion().steps == 14);
  CHECK(of.runs == 5);
}

}  // namespace
