// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <stdexcept>

#include <tautline/hooks/final_ops.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/hooks/triggered.hpp>

#include "memory_store.hpp"
#include "support.hpp"

using namespace support;
using tautline::ask_if;
using tautline::at_end;
using tautline::at_steps;
using tautline::every_seconds;
using tautline::every_steps;
using tautline::fetches;
using tautline::monitored;
using tautline::never;
using tautline::once;
using tautline::options;
using tautline::provides;
using tautline::since_triggered;
using tautline::triggered;
using tautline::with_clock;

namespace {

/// Says when it is triggered, and with what.
struct report {
  using asks = fetches<"loss">;
  static constexpr bool stateless = true;
  lines* said;
  void on_trigger(auto& ctx, since_triggered const& since, auto const& values) const {
    said->push_back(number(ctx.step()) + (since.first ? " first" : "") + " since " + number(since.steps) + ": " +
                    number(values[fetch<"loss">]));
  }
};
/// The same without values.
struct tick {
  static constexpr bool stateless = true;
  lines* said;
  void on_trigger(auto& ctx, since_triggered const& since) const {
    said->push_back(number(ctx.step()) + " since " + number(since.steps) +
                    (std::isnan(since.seconds) ? "" : ", " + number(since.seconds) + " s"));
  }
};
/// An ordinary hook.
struct plain {
  lines* said;
  auto before_run(auto& ctx) const {
    said->push_back("ask " + number(ctx.step()) + (ctx.due() ? " due" : ""));
    return fetch<"loss">;
  }
  void after_run(auto& ctx, auto const& values) const {
    said->push_back("told " + number(ctx.step()) + " " + number(values[fetch<"loss">]));
  }
  void end(auto&, life& at) const { said->push_back(at.due() ? "end due" : "end"); }
};

struct publisher {
  using provides = tautline::provides<"sum", double>;
  void after_run(auto& ctx) const {
    if (ctx.step() == 2) ctx.template publish<"sum">(1.5);
  }
};
struct of_sum {
  using asks = fetches<"sum">;
  lines* to;
  void on_trigger(auto& ctx, since_triggered const&, auto const& values) const {
    to->push_back(number(ctx.step()) + " " + number(values[fetch<"sum">]));
  }
  void on_trigger(auto& ctx, since_triggered const&) const { to->push_back(number(ctx.step()) + " nothing"); }
};
struct stopper {
  void on_trigger(auto& ctx, since_triggered const&) const { ctx.request_stop("enough"); }
};
struct failing {
  void on_trigger(auto& ctx, since_triggered const&) const { ctx.fail(error_kind::internal, "no disk"); }
};
struct counter {
  using asks = fetches<"loss">;
  int seen = 0;
  auto state() { return tautline::fields{tautline::field<"seen">(seen)}; }
  void on_trigger(auto&, since_triggered const&, auto const&) { ++seen; }
};
struct untold {
  int kept = 0;
  void on_trigger(auto&, since_triggered const&) { ++kept; }
};
struct first {
  using runs_before = tautline::hooks<report>;
  lines* to;
  void after_run(auto&) const { to->push_back("first"); }
};
#if TAUTLINE_EXCEPTIONS
struct bad {
  world* to;
  void on_trigger(auto&, since_triggered const&) const { throw std::domain_error("bad"); }
  void close() const { to->say("closed"); }
};
#endif

scripted numbered(world& of) {
  return scripted(of, [](long run) { return static_cast<double>(run); });
}
template <class Trigger>
lines said_by(Trigger trigger, int runs, world of = {}) {
  lines said;
  auto session = monitored(numbered(of), triggered{report{&said}, trigger});
  (void)session.run_steps(runs);
  session.close();
  return said;
}

}  // namespace

TEST_CASE("every N steps, with the values of that run and what has passed") {
  CHECK(said_by(every_steps{3}, 7) == lines{"3 first since 3: 3", "6 since 3: 6"});
}

TEST_CASE("in the first run, and at listed steps") {
  CHECK(said_by(once, 3) == lines{"1 first since 1: 1"});
  CHECK(said_by(at_steps{2, 3}, 4) == lines{"2 first since 2: 2", "3 since 1: 3"});
}

TEST_CASE("at the end with the last run's values, unless that step was handled") {
  CHECK(said_by(every_steps{3} | at_end, 5) == lines{"3 first since 3: 3", "5 since 2: 5"});
  CHECK(said_by(every_steps{3} | at_end, 6) == lines{"3 first since 3: 3", "6 since 3: 6"});
  CHECK(said_by(never | at_end, 4) == lines{"4 first since 4: 4"});
  CHECK(said_by(every_steps{3} | at_end, 0).empty());
}

TEST_CASE("after a resume it goes on in the period") {
  world of;
  of.first_step = 5;
  CHECK(said_by(every_steps{3}, 4, of) == lines{"6 first since 1: 1", "9 since 3: 4"});
}

TEST_CASE("after a recovery that goes back it acts again, and what has passed begins there") {
  world of;
  of.in_run = broken_in(4);
  CHECK(said_by(every_steps{2}, 5, of) == lines{"2 first since 2: 2", "2 since 2: 6"});
}

TEST_CASE("what has passed is counted over a resume, and over a return to a checkpoint, as in a training in one piece") {
  auto const said_in = [](std::initializer_list<int> parts, long broken) {
    lines said;
    memory_store store;
    for (int const runs : parts) {
      world of;
      of.in_run = broken_in(broken);
      auto session = monitored(numbered(of), options{tautline::restore_from{store}}, triggered{tick{&said}, every_steps{5}});
      for (int i = 0; i < runs; ++i) {
        (void)session.run();
        if (i + 1 == runs || broken > 0) store.save(session.raw().state());
      }
    }
    return said;
  };
  lines const whole{"5 since 5", "10 since 5"};
  CHECK(said_in({10}, -1) == whole);
  CHECK(said_in({3, 7}, -1) == whole);
  CHECK(said_in({7, 3}, -1) == whole);
  CHECK(said_in({10}, 4) == whole);
  CHECK(said_in({10}, 8) == whole);
}

TEST_CASE("at the end without values if the last run of the session had none for it") {
  lines said;
  world of;
  {
    auto session = monitored(scripted(of), publisher{}, triggered{of_sum{&said}, every_steps{2} | at_end});
    (void)session.run_steps(5);
  }
  CHECK(said == lines{"2 1.5", "4 nothing", "5 nothing"});
}

TEST_CASE("values are computed only in runs that are due, with at_end in every run") {
  auto const traced = [](auto trigger) {
    world of;
    lines said;
    auto session = monitored(scripted(of), triggered{report{&said}, trigger});
    (void)session.run_steps(3);
    return count(of.trace, "run 1 loss") + count(of.trace, "run 2 loss") + count(of.trace, "run 3 loss");
  };
  CHECK(traced(every_steps{2}) == 1);
  CHECK(traced(every_steps{2} | at_end) == 3);
}

TEST_CASE("seconds by the session's clock, none without") {
  world of;
  of.ticks_a_run = 250;  // of 1000 in a second
  lines said;
  {
    auto session = monitored(scripted(of), options{with_clock{run_clock{&of}}}, triggered{tick{&said}, every_steps{2}});
    (void)session.run_steps(4);
  }
  CHECK(said == lines{"2 since 2, 0.5 s", "4 since 2, 0.5 s"});
  said.clear();
  world other;
  auto session = monitored(scripted(other), triggered{tick{&said}, every_steps{2}});
  (void)session.run_steps(2);
  CHECK(said == lines{"2 since 2"});
}

TEST_CASE("an ordinary hook asks and is told in the runs that are due, and ends as ever") {
  lines said;
  world of;
  {
    auto session = monitored(numbered(of), triggered{plain{&said}, every_steps{2} | at_end});
    (void)session.run_steps(3);
  }
  CHECK(said == lines{"ask 2 due", "told 2 2", "end due"});
  CHECK(count(of.trace, "run 1 loss") == 0);
  CHECK(count(of.trace, "run 2 loss") == 1);
}

TEST_CASE("other callbacks of the hook inside are called as ever") {
  world of;
  {
    auto session = monitored(backend(of), triggered{probe{.of = &of, .id = "in"}, never});
    (void)session.run_steps(1);
  }
  CHECK(of.trace == lines{"begin in", "session 1", "after_create_session in", "run 1", "end in", "close in", "session_closed 1"});
}

TEST_CASE("a NaN is handed on as any other value") {
  world of;
  lines said;
  auto session = monitored(scripted(of, [](long) { return std::nan(""); }), triggered{report{&said}, once});
  (void)session.run_steps(1);
  CHECK(said == lines{"1 first since 1: nan"});
}

TEST_CASE("a stop and a failure in on_trigger are the hook's") {
  world of;
  auto session = monitored(scripted(of), triggered{stopper{}, every_steps{2}});
  (void)session.run_steps(9);
  CHECK(session.completed_steps() == 2);
  CHECK(contains(described(session.stop()), "triggered<"));
  world other;
  auto second = tautline::try_monitored(scripted(other), triggered{failing{}, every_steps{2}});
  (void)second.try_run();
  (void)second.try_run();
  CHECK(second.status().kind == error_kind::internal);
  CHECK(second.status().where == callback::after_run);
}

TEST_CASE("the state: the hook's own, and what is needed to say how much has passed") {
  world of;
  auto session = monitored(scripted(of), triggered{counter{}, every_steps{2}});
  (void)session.run_steps(3);
  lines listed;
  session.hook<triggered<counter, every_steps>>().state().each([&](auto const& found) {
    listed.push_back(tautline::name_of<std::remove_cvref_t<decltype(found)>::name>);
  });
  CHECK(listed == lines{"hook", "started", "triggered", "last_step"});
  CHECK(session.hook<triggered<counter, every_steps>>().seen == 1);
  static_assert(tautline::lists_state<triggered<report, every_steps>>);
  static_assert(tautline::stateless<triggered<tautline::final_ops<"loss">, every_steps>> ==
                tautline::stateless<tautline::final_ops<"loss">>);
  static_assert(!tautline::lists_state<triggered<untold, every_steps>> && !tautline::stateless<triggered<untold, every_steps>>);
}

TEST_CASE("relations that name the hook inside mean this one") {
  world of;
  lines said;
  auto session = monitored(scripted(of), triggered{report{&said}, every_steps{1}}, first{&said});
  (void)session.run_steps(1);
  CHECK(said.front() == "first");
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("an exception of on_trigger reaches the caller, and the hook is closed") {
  world of;
  auto session = monitored(scripted(of), triggered{bad{&of}, every_steps{2}});
  CHECK(outcome_of([&] { (void)session.run_steps(3); }) == "threw bad");
  CHECK(count(of.trace, "closed") == 1);
  world other;
  auto at_last = monitored(scripted(other), triggered{bad{&other}, never | at_end});
  (void)at_last.run_steps(1);
  CHECK(outcome_of([&] { at_last.close(); }) == "threw bad");
  CHECK(count(other.trace, "closed") == 1);
}
#endif
