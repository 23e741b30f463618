// SPDX-License-Identifier: BSL-1.0
#include <utility>

#include "support.hpp"

// At which steps each trigger fires.

namespace {

using namespace support;
using tautline::after;
using tautline::at_end;
using tautline::at_steps;
using tautline::before;
using tautline::every_seconds;
using tautline::every_steps;
using tautline::monitored;
using tautline::named;
using tautline::never;
using tautline::once;
using tautline::options;
using tautline::when;
using tautline::with_clock;

/// Writes down the steps at which it is due; those in `end` negated.
template <class Trigger>
struct acting {
  Trigger trigger;
  std::vector<step_number>* acted;

  void before_run(auto& ctx) { due_before = ctx.due(); }
  void after_run(auto& ctx) {
    CHECK(ctx.due() == due_before);
    if (ctx.due()) acted->push_back(ctx.step());
  }
  void end(auto&, life& at) {
    if (at.due()) acted->push_back(-at.step());
  }
  bool due_before = false;
};
template <class Trigger>
acting(Trigger, std::vector<step_number>*) -> acting<Trigger>;

using steps = std::vector<step_number>;

struct setting {
  step_number first_step = 0;
  step_number per_run = 1;
};

/// The steps at which `trigger` fires in that many runs, and in the end.
template <class Trigger>
steps fired(Trigger trigger, int runs, setting how = {}) {
  world of;
  of.first_step = how.first_step;
  of.per_run = how.per_run;
  of.ticks_a_run = 250;  // a quarter of a second
  steps acted;
  {
    auto session = monitored(backend{of}, options{with_clock{run_clock{&of}}}, acting{trigger, &acted});
    (void)session.run_steps(runs);
  }
  return acted;
}

TEST_CASE("every_steps fires on completed steps N, 2N, 3N") {
  CHECK(fired(every_steps{3}, 10) == steps{3, 6, 9});
  CHECK(fired(every_steps{1}, 3) == steps{1, 2, 3});
  CHECK(fired(every_steps{100}, 10).empty());
}

TEST_CASE("every_steps with also_first fires in the first run, too") {
  CHECK(fired(every_steps{.period = 3, .also_first = true}, 7) == steps{1, 3, 6});
  CHECK(fired(every_steps{.period = 1, .also_first = true}, 2) == steps{1, 2});
  CHECK(fired(every_steps{.period = 5, .also_first = true}, 4, {.per_run = 5}) == steps{5, 10, 15, 20});
}

TEST_CASE("every_steps fires where a multiple is passed, once for each run, when steps jump") {
  CHECK(fired(every_steps{3}, 6, {.per_run = 2}) == steps{4, 6, 10, 12});
  CHECK(fired(every_steps{3}, 4, {.per_run = 5}) == steps{5, 10, 15, 20});
  CHECK(fired(every_steps{10}, 5, {.per_run = 5}) == steps{10, 20});
  CHECK(fired(every_steps{7}, 6, {.per_run = 5}) == steps{10, 15, 25, 30});
}

TEST_CASE("every_steps after a resume fires at the next multiple, not one period after the resume") {
  CHECK(fired(every_steps{5}, 8, {.first_step = 10}) == steps{15});  // on a boundary, which was handled before
  CHECK(fired(every_steps{5}, 8, {.first_step = 12}) == steps{15, 20});
  CHECK(fired(every_steps{5}, 3, {.first_step = 14}) == steps{15});
  CHECK(fired(every_steps{.period = 5, .also_first = true}, 8, {.first_step = 12}) == steps{13, 15, 20});
  CHECK(fired(every_steps{5}, 3, {.first_step = 9, .per_run = 2}) == steps{11, 15});
}

TEST_CASE("a period below one is one") { CHECK(fired(every_steps{0}, 3) == steps{1, 2, 3}); }

TEST_CASE("at_steps fires at the listed steps, or where they are passed") {
  CHECK(fired(at_steps{1, 4, 6}, 10) == steps{1, 4, 6});
  CHECK(fired(at_steps{6, 1, 4}, 10) == steps{1, 4, 6});
  CHECK(fired(at_steps{1, 4, 6}, 5, {.per_run = 2}) == steps{2, 4, 6});
  CHECK(fired(at_steps{1, 4, 6}, 3, {.per_run = 5}) == steps{5, 10});
  CHECK(fired(at_steps{1, 4, 6}, 5, {.first_step = 4}) == steps{6});
  CHECK(fired(at_steps{0}, 5).empty());
}

TEST_CASE("once fires in the first run that the hook sees, never in others") {
  CHECK(fired(once, 4) == steps{1});
  CHECK(fired(once, 4, {.first_step = 7, .per_run = 2}) == steps{9});
  world of;
  steps acted;
  auto session = monitored(backend{of}, acting{once, &acted});
  (void)session.run_without_hooks();
  (void)session.run_steps(2);
  CHECK(acted == steps{2});
}

TEST_CASE("never does not fire") {
  CHECK(fired(never, 5).empty());
  CHECK(fired(never | at_end, 5) == steps{-5});
}

TEST_CASE("after and before bound other triggers") {
  CHECK(fired(every_steps{2} & after{4}, 10) == steps{6, 8, 10});
  CHECK(fired(every_steps{2} & before{6}, 10) == steps{2, 4});
  CHECK(fired(after{3}, 5) == steps{4, 5});
  CHECK(fired(before{3}, 5) == steps{1, 2});
  CHECK(fired(after{2} & before{5}, 9) == steps{3, 4});
}

TEST_CASE("when fires where its predicate is true") {
  CHECK(fired(when([](step_number step) { return step % 4 == 1; }), 10) == steps{1, 5, 9});
  CHECK(fired(every_steps{2} & when([](step_number step) { return step > 4; }), 8) == steps{6, 8});
}

TEST_CASE("joined triggers both look at each run, whether or not the other one fires") {
  CHECK(fired(every_steps{2} | every_steps{3}, 9) == steps{2, 3, 4, 6, 8, 9});
  CHECK(fired(every_steps{2} & every_steps{3}, 12) == steps{6, 12});
  CHECK(fired(at_steps{1} | every_steps{4}, 9) == steps{1, 4, 8});
  CHECK(fired(once & after{3}, 6).empty());  // the first run has been seen when steps are beyond
  CHECK(fired((every_steps{2} | at_steps{5}) & after{2}, 8) == steps{4, 5, 6, 8});
}

TEST_CASE("every_seconds fires when the time has passed since the session was made or since the hook acted") {
  // A run takes a quarter. A second is over when run 5 begins; the hook acts when that run is over.
  CHECK(fired(every_seconds{1}, 11) == steps{5, 10});
  CHECK(fired(every_seconds{0.5}, 9) == steps{3, 6, 9});
  CHECK(fired(every_seconds{.seconds = 1, .also_first = true}, 7) == steps{1, 6});
  CHECK(fired(every_seconds{100}, 9).empty());
}

TEST_CASE("every_seconds in a joined trigger counts from the last time that the hook acted") {
  CHECK(fired(every_seconds{1} | at_steps{3}, 9) == steps{3, 8});
  CHECK(fired(every_seconds{1} & every_steps{2}, 12) == steps{6, 12});  // being due alone is no acting
}

TEST_CASE("every_seconds counts anew when a session is made anew") {
  world of;
  of.ticks_a_run = 250;
  steps acted;
  of.in_run = [](long run) { return run == 4 ? tautline::status{error_kind::aborted, "gone"} : tautline::status{}; };
  auto session = monitored(backend{of}, options{with_clock{run_clock{&of}}}, acting{every_seconds{1}, &acted});
  (void)session.run_steps(8);  // the new session is made at one second
  CHECK(acted == steps{5});
}

TEST_CASE("at_end fires in end, if the last step was not handled") {
  CHECK(fired(every_steps{3} | at_end, 7) == steps{3, 6, -7});
  CHECK(fired(every_steps{3} | at_end, 6) == steps{3, 6});
  CHECK(fired(at_end, 4) == steps{-4});
  CHECK(fired(at_end, 2, {.first_step = 5, .per_run = 5}) == steps{-15});
  CHECK((fired(at_end & after{3}, 5) == steps{-5}));
  CHECK((fired(at_end & after{9}, 5).empty()));
}

TEST_CASE("at_end does not fire without a run") {
  CHECK(fired(at_end, 0).empty());
  CHECK(fired(every_steps{5} | at_end, 0, {.first_step = 7}).empty());
}

TEST_CASE("at_end fires after a recovery only if the new session has completed a run") {
  world of;
  steps acted;
  long failing = 3;
  of.in_run = [&](long run) {
    return run == failing ? tautline::status{error_kind::aborted, "gone"} : tautline::status{};
  };
  of.first_step = 10;
  SUBCASE("it has") {
    auto session = monitored(backend{of}, acting{every_steps{100} | at_end, &acted});
    (void)session.run_steps(3);
    session.close();
    CHECK(acted == steps{-11});
  }
  SUBCASE("it has none: a stop came with the failure") {
    of.input_length = 1;
    failing = 2;
    auto session = monitored(backend{of}, acting{every_steps{100} | at_end, &acted});
    (void)session.run();
    of.input_length = 0;  // what is restored is at its end
    (void)session.run();
    session.close();
    CHECK(session.completed_steps() == 10);
    CHECK(acted.empty());
  }
  SUBCASE("what was handled in the old session does not count in the new one") {
    auto session = monitored(backend{of}, acting{every_steps{11} | at_end, &acted});
    (void)session.run_steps(1);
    session.close();
    CHECK(acted == steps{11});
  }
}

TEST_CASE("at_end fires for a last step that came in a run without hooks") {
  world of;
  steps acted;
  auto session = monitored(backend{of}, acting{every_steps{2} | at_end, &acted}, stop_after{99});
  (void)session.run_steps(2);
  SUBCASE("without any") {
    (void)session.run_without_hooks();
    session.close();
    CHECK(acted == steps{2, -3});
  }
  SUBCASE("without this one") {
    (void)session.run_with<stop_after>();
    session.close();
    CHECK(acted == steps{2, -3});
  }
}

TEST_CASE("a boundary that is crossed in a run without hooks is due in the next one that the hook sees") {
  world of;
  steps acted;
  auto session = monitored(backend{of}, acting{every_steps{3}, &acted}, named<"listed">(acting{at_steps{3}, &acted}));
  (void)session.run_steps(2);
  (void)session.run_without_hooks();
  (void)session.run_steps(3);
  CHECK(acted == steps{4, 4, 6});
}

TEST_CASE("an evaluate between two steps moves no trigger") {
  world of;
  steps acted;
  auto session = monitored(backend{of}, acting{every_steps{3}, &acted});
  (void)session.run_steps(2);
  for (int i = 0; i < 5; ++i) (void)session.evaluate(fetch<"loss">);
  (void)session.run_steps(2);
  CHECK(acted == steps{3});
}

TEST_CASE("triggers follow the step of a restored session, and fire again") {
  world of;
  steps acted;
  of.in_run = [](long run) { return run == 6 ? tautline::status{error_kind::aborted, "gone"} : tautline::status{}; };
  SUBCASE("every_steps") {
    auto session = monitored(backend{of}, acting{every_steps{2}, &acted});
    (void)session.run_steps(5);
    of.first_step = 3;
    (void)session.run_steps(4);
    CHECK(acted == steps{2, 4, 4, 6});
  }
  SUBCASE("at_steps") {
    auto session = monitored(backend{of}, acting{at_steps{2, 4}, &acted});
    (void)session.run_steps(5);
    of.first_step = 3;
    (void)session.run_steps(4);
    CHECK(acted == steps{2, 4, 4});
  }
  SUBCASE("once has had its run") {
    auto session = monitored(backend{of}, acting{once, &acted});
    (void)session.run_steps(5);
    of.first_step = 3;
    (void)session.run_steps(4);
    CHECK(acted == steps{1});
  }
}

TEST_CASE("once and also_first wait for the first run that succeeds") {
  world of;
  steps acted;
  of.in_run = [](long run) { return run == 1 ? tautline::status{error_kind::aborted, "gone"} : tautline::status{}; };
  auto session = monitored(backend{of}, acting{once, &acted},
                           named<"also">(acting{every_steps{.period = 50, .also_first = true}, &acted}));
  (void)session.run_steps(3);
  CHECK(acted == steps{1, 1});
}

TEST_CASE("a hook without a trigger is never due") {
  world of;
  steps acted;
  bool due = false;
  auto session = monitored(backend{of}, acting{once, &acted}, probe{&of, "a", [&](callback, life& at) {
                             due = due || at.due();
                           }});
  (void)session.run_steps(2);
  session.close();
  CHECK_FALSE(due);
}

}  // namespace
