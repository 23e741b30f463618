// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <functional>
#include <thread>

#include <doctest/doctest.h>

#include <tautline/testing.hpp>

// The parts of the test kit: what the laws rest on.

using namespace tautline;
using namespace tautline::testing;

namespace {

using lines = std::vector<std::string>;

/// Has a field of each kind.
struct three_fields {
  float best = 1;
  int kept = 2;
  std::vector<double> room{1, 2};
  auto state() { return fields{field<"best">(best), kept_field<"kept">(kept), field<"room">(room)}; }
  void after_run(auto&) {}
};

}  // namespace

TEST_CASE("a session follows its script, and the trace has the words of the scenarios") {
  trace seen;
  script plan;
  plan.seen = &seen;
  plan.values = {{"loss", {0.9, 0.5}}, {"rate_seen", of_feed{"rate", 7}}};
  plan.variables["bias"] = [](long run) { return 10.0 * static_cast<double>(run); };
  plan.initial_step = 4;
  plan.steps_per_run = 2;
  {
    auto session = monitored(scripted_session(plan), probe<"loss">{seen, "a"}, probe<>{seen, "b"});
    double const rate = 0.25;
    auto const first = session.run(fetch<"rate_seen">, fetch<"bias">, feed<"rate">(rate));
    REQUIRE(first);
    CHECK(first[fetch<"rate_seen">] == 0.25);
    CHECK(first[fetch<"bias">] == 10);
    CHECK(session.run(fetch<"rate_seen">)[fetch<"rate_seen">] == 7);
    CHECK(session.run(fetch<"other">)[fetch<"other">] == 0.5);
  }
  CHECK(seen.lines() == lines{"begin a", "begin b", "session 1", "after_create_session a", "after_create_session b",
                              "before_run a step=6", "before_run b step=6", "run 1 fetch=bias,loss,rate_seen feed=rate",
                              "after_run a step=6 loss=0.9", "after_run b step=6", "before_run a step=8",
                              "before_run b step=8", "run 2 fetch=loss,rate_seen", "after_run a step=8 loss=0.5",
                              "after_run b step=8", "before_run a step=10", "before_run b step=10",
                              "run 3 fetch=loss,other", "after_run a step=10 loss=0.5", "after_run b step=10", "end a",
                              "end b", "close a", "close b", "session_closed 1"});
}

TEST_CASE("the scenario abort_restores_checkpoint, in the kit's words") {
  trace seen;
  script plan;
  memory_store store;
  plan.seen = &seen;
  plan.run_faults = {{.at = 4, .kind = error_kind::aborted}};
  {
    auto session = monitored(scripted_session(plan), options{restore_from{store}},
                             memory_saver{store, every_steps{2} | at_end}, probe<>{seen, "a"});
    for (int i = 0; i < 4; ++i) CHECK(session.run());
  }
  CHECK(seen.lines() == lines{"begin a", "session 1", "after_create_session a", "before_run a step=1", "run 1",
                              "after_run a step=1", "before_run a step=2", "run 2", "after_run a step=2",
                              "before_run a step=3", "run 3", "after_run a step=3", "before_run a step=4", "run 4",
                              "on_error a aborted", "session_closed 1", "session 2", "after_create_session a",
                              "before_run a step=3", "run 5", "after_run a step=3", "end a", "close a", "session_closed 2"});
  CHECK(store.saved().size() == 2);
  CHECK(store.saved()[0].step() == 2);
  CHECK(store.saved()[1].step() == 3);
}

TEST_CASE("the scenario storm_at_creation, in the kit's words") {
  trace seen;
  script plan;
  plan.seen = &seen;
  plan.run_faults = {{1, error_kind::aborted}, {2, error_kind::aborted}, {3, error_kind::aborted}};
  plan.create_faults = {{1, error_kind::unavailable}, {2, error_kind::unavailable}, {4, error_kind::unavailable}};
  auto session = try_monitored(scripted_session(plan), probe<>{seen, "a"});
  CHECK(session.try_run().error() == error_kind::aborted);
  CHECK(seen.count("on_error a unavailable") == 3);
  CHECK(seen.count("on_error a aborted") == 3);
  CHECK(seen.lines().back() == "session_closed 3");
  CHECK(plan.attempts == 6);
}

TEST_CASE("a session that keeps its state goes on where it was, another begins anew") {
  for (bool const keeps : {true, false}) {
    script plan;
    plan.keeps_on_recreate = keeps;
    plan.learns = true;
    plan.initial_step = 3;
    plan.input_length = 5;
    plan.run_faults = {{.at = 3, .kind = error_kind::unavailable}};
    auto session = monitored(scripted_session(plan), failing_hook<>{});
    for (int i = 0; i < 3; ++i) CHECK(session.run(fetch<"w">));
    CHECK(session.completed_steps() == (keeps ? 6 : 4));
    CHECK(plan.position == (keeps ? 3 : 1));
    while (!session.should_stop()) (void)session.run();
    CHECK(session.completed_steps() == 3 + 5);
    CHECK(session.stop().source == stop_source::end_of_input);
  }
}

TEST_CASE("faults come as values, exceptions, and exceptions of derived types") {
  for (fault_as const how : {fault_as::value, fault_as::exception, fault_as::derived}) {
    for (error_kind const kind : {error_kind::internal, error_kind::invalid_argument, error_kind::cancelled, error_kind::error}) {
      script plan;
      plan.run_faults = {{2, kind, how}};
      auto session = try_monitored(scripted_session(plan), failing_hook<>{});
      CHECK(session.try_run().error() == error_kind::none);
      CHECK(session.try_run().error() == kind);
      script other;
      other.create_faults = {{1, kind, how}};
      CHECK(try_monitored(scripted_session(other), failing_hook<>{}).status().kind == kind);
    }
    script plan;
    plan.run_faults = {{1, error_kind::out_of_range, how}};
    auto session = monitored(scripted_session(plan), failing_hook<>{});
    CHECK(session.run().end_of_input());
  }
  script plan;
  plan.run_faults = {{1, error_kind::internal, fault_as::derived}};
  auto session = monitored(scripted_session(plan), failing_hook<>{});
  CHECK_THROWS_AS((void)session.run(), derived_error<error_kind::internal>);
}

TEST_CASE("a look takes input only where it fetches what needs some") {
  script plan;
  plan.variables["bias"] = {3};
  plan.input_length = 2;
  auto session = monitored(scripted_session(plan), failing_hook<>{});
  CHECK(session.run());
  CHECK(session.evaluate(fetch<"bias">)[fetch<"bias">] == 3);
  double const x = 1;
  CHECK(session.evaluate(fetch<"loss">, feed<"x">(x)));
  CHECK(plan.position == 1);
  CHECK(session.evaluate(fetch<"loss">));
  CHECK(plan.position == 2);
  CHECK(session.run().end_of_input());
}

TEST_CASE("time passes in raw runs and by hand, and a sleeper moves it on") {
  script plan;
  fake_sleeper const sleeper{plan.clock};
  plan.run_faults = {{2, error_kind::aborted}, {3, error_kind::aborted}};
  auto session = monitored(scripted_session(plan), options{with_clock{plan.clock}, with_sleep{sleeper}}, failing_hook<>{});
  CHECK(session.run());
  CHECK(plan.clock.now() == 64);
  CHECK(session.run());
  REQUIRE(sleeper.slept().size() == 2);
  for (int i = 0; i < 2; ++i) {
    CHECK(sleeper.slept()[std::size_t(i)] <= 100U << i);
    CHECK(sleeper.slept()[std::size_t(i)] > 50U << i);
  }
  CHECK(plan.clock.now() > 4 * 64 + 150);
  std::uint64_t const before = plan.clock.now();
  plan.clock.advance(5);
  CHECK(fake_clock(plan.clock).now() == before + 5);
}

TEST_CASE("a hook fails in every callback, at the call that was asked for, in both ways") {
  for (callback const where : {callback::begin, callback::after_create_session, callback::before_run, callback::after_run,
                               callback::end, callback::close}) {
    for (bool const thrown : {true, false}) {
      bool const in_run = where == callback::before_run || where == callback::after_run;
      script plan;
      auto session = try_monitored(scripted_session(plan),
                                   failing_hook<"x">{{.where = where, .call = in_run ? 3 : 1, .thrown = thrown}});
      while (session.is_open() && plan.runs < 5) (void)session.try_run();
      (void)session.try_close();
      CHECK(session.status().where == where);
      CHECK(session.status().kind == error_kind::internal);
      CHECK((session.status().cause != nullptr) == thrown);
      CHECK(session.hook<failing_hook<"x">>().failed() == 1);
      if (in_run) CHECK(session.status().step == 3);
    }
  }
  script plan;
  auto session = try_monitored(scripted_session(plan), failing_saver{{.where = callback::save, .call = 2}});
  CHECK(session.try_run());
  CHECK(!session.try_run());
  CHECK(session.status().where == callback::save);
}

TEST_CASE("a recorder writes down all hooks, by their names") {
  script plan;
  trace seen;
  {
    auto session = monitored(scripted_session(plan), named<"x">(failing_hook<>{}), trace_recorder{seen});
    CHECK(session.run());
  }
  CHECK(seen.lines() == lines{"after_create_session x", "before_run x step=1", "after_run x step=1", "end x", "close x"});
}

TEST_CASE("a snapshot tells what differs, and puts back, but for what is kept") {
  script plan;
  three_fields it;
  auto session = monitored(scripted_session(plan), named<"h">(std::ref(it)));
  snapshot const before(session.raw().state());
  CHECK(before.find("hook/h/room")->resizable);
  CHECK(before.difference(before).empty());
  it = {2, 3, {5, 6, 7}};
  snapshot const after(session.raw().state());
  CHECK(before.difference(after) ==
        "hook/h/best: 1.000000 and 2.000000\nhook/h/kept: 2 and 3\nhook/h/room: 1.000000 2.000000 and 5.000000 6.000000 "
        "7.000000\n");
  CHECK(before.difference(after, false).find("kept") == std::string::npos);
  CHECK(before.write_to(session.raw().state(), true).empty());
  CHECK(it.best == 1);
  CHECK(it.kept == 3);
  CHECK(it.room == std::vector<double>{1, 2});
  CHECK(before.write_to(session.raw().state()).empty());
  CHECK(it.kept == 2);
  auto other = monitored(scripted_session(plan), named<"other">(three_fields{}));
  CHECK(before.write_to(other.raw().state()).find("hook/other/best was not saved\n") != std::string::npos);
}

TEST_CASE("the counter counts what a thread takes, but not what the kit writes down") {
  REQUIRE(counts_allocations());
  long const before = allocations();
  long const live = live_allocations();
  void* const taken = ::operator new(8);
  CHECK(allocations() - before == 1);
  CHECK(live_allocations() - live == 1);
  ::operator delete(taken);
  CHECK(live_allocations() == live);
  trace seen;
  long const written = allocations();
  { uncounted const by_the_kit; ::operator delete(::operator new(8)); }
  CHECK(allocations() == written);
  long of_other_thread = -1;
  std::thread([&] { of_other_thread = allocations(); }).join();
  CHECK(of_other_thread == 0);
}
