// SPDX-License-Identifier: BSL-1.0
#include <stdexcept>
#include <utility>

#include "support.hpp"

// The ways to drive a session: that they agree, and what is special about each.

namespace {

using namespace support;
using tautline::monitored;
using tautline::options;

auto settings(world& of) {
  return options{tautline::with_clock{run_clock{&of}}, tautline::longest_step{10}, tautline::frame_bytes<1024>{}};
}
using action = std::function<void(callback, life&)>;

auto two_probes(world& of, action act) {
  return monitored(backend{of}, settings(of), probe{&of, "a", std::move(act)}, probe{&of, "b"});
}

/// Makes a session in a world that `prepare` has set up, drives it, closes it, and gives everything that was seen.
template <class Prepare, class Drive>
lines play(Prepare prepare, Drive drive) {
  world of;
  action const act = prepare(of);
  lines more;
  more.push_back(outcome_of([&] {
    auto session = two_probes(of, act);
    more.push_back("made");
    more.push_back(outcome_of([&] { drive(session); }));
    more.push_back(described(session.stop()) + ", completed " + number(session.completed_steps()));
    more.push_back(session.should_stop() ? "should stop" : "may go on");
    session.close();
  }));
  for (std::string& line : more) of.say(std::move(line));
  return of.trace;
}

/// All drives give this trace.
template <class Prepare>
void check_drives(Prepare prepare, lines const& expected) {
  std::string const wanted = joined(expected);
  auto const to_completion = [](auto& s) { (void)s.run_to_completion(target<"train">); };
  auto const as_range = [](auto& s) {
    for (auto const& step : s.steps(target<"train">, fetch<"loss">)) (void)step[fetch<"loss">];
  };
  auto const by_hand = [](auto& s) {
    while (!s.should_stop()) (void)s.run(target<"train">, fetch<"loss">);
  };
  auto const in_slices = [](auto& s) {
    while (!s.should_stop()) (void)s.run_for(25, target<"train">);
  };
  auto const in_parts = [](auto& s) {
    while (!s.should_stop()) (void)s.run_steps(2, target<"train">);
  };
  CHECK(joined(play(prepare, to_completion)) == wanted);
  CHECK(joined(play(prepare, as_range)) == wanted);
  CHECK(joined(play(prepare, by_hand)) == wanted);
  CHECK(joined(play(prepare, in_slices)) == wanted);
  CHECK(joined(play(prepare, in_parts)) == wanted);
}

lines const opening = {"begin a", "begin b", "session 1", "after_create_session a", "after_create_session b"};
lines const closing = {"end a", "end b", "close a", "close b", "session_closed 1"};
lines run_of(int step) {
  std::string const words = std::to_string(step);
  std::string const loss = number(step / 2.0);
  return {"before_run a step=" + words,
          "before_run b step=" + words,
          "run " + words,
          "after_run a step=" + words + " loss=" + loss,
          "after_run b step=" + words + " loss=" + loss};
}
lines operator+(lines all, lines const& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_CASE("all drives give one trace when a hook asks for a stop") {
  auto const stopping_in = [](callback asked, step_number step = 0) {
    return [=](world&) -> action {
      return [=](callback where, life& at) {
        if (where == asked && (step == 0 || at.step() == step)) at.request_stop("enough");
      };
    };
  };
  SUBCASE("in begin: there is no run, and no step") {
    check_drives(stopping_in(callback::begin),
                 opening + closing +
                     lines{"made", "returned", "stop by support::probe at no step: enough, completed 0", "should stop",
                           "returned"});
  }
  SUBCASE("in after_create_session: there is no run") {
    check_drives(stopping_in(callback::after_create_session),
                 opening + closing +
                     lines{"made", "returned", "stop by support::probe at 0: enough, completed 0", "should stop",
                           "returned"});
  }
  SUBCASE("in before_run: the run takes place") {
    check_drives(stopping_in(callback::before_run, 2),
                 opening + run_of(1) + run_of(2) + closing +
                     lines{"made", "returned", "stop by support::probe at 2: enough, completed 2", "should stop",
                           "returned"});
  }
  SUBCASE("in after_run: the hooks behind it see the run") {
    check_drives(stopping_in(callback::after_run, 3),
                 opening + run_of(1) + run_of(2) + run_of(3) + closing +
                     lines{"made", "returned", "stop by support::probe at 3: enough, completed 3", "should stop",
                           "returned"});
  }
}

TEST_CASE("all drives give one trace at the end of the input") {
  check_drives(
      [](world& of) -> action {
        of.input_length = 3;
        return {};
      },
      opening + run_of(1) + run_of(2) + run_of(3) + lines{"before_run a step=4", "before_run b step=4", "run 4"} +
          closing +
          lines{"made", "returned", "stop by end_of_input at 4: end of input, completed 3", "should stop", "returned"});
}

TEST_CASE("all drives give one trace when the input is empty") {
  check_drives(
      [](world& of) -> action {
        of.input_length = 0;
        return {};
      },
      opening + lines{"before_run a step=1", "before_run b step=1", "run 1"} + closing +
          lines{"made", "returned", "stop by end_of_input at 1: end of input, completed 0", "should stop", "returned"});
}

TEST_CASE("all drives give one trace when the session fails") {
  check_drives(
      [](world& of) -> action {
        of.in_run = [](long run) -> tautline::status {
          if (run == 2) throw std::runtime_error("boom");
          return {};
        };
        return {};
      },
      opening + run_of(1) +
          lines{"before_run a step=2", "before_run b step=2", "run 2", "on_error a error", "on_error b error", "close a",
                "close b", "session_closed 1", "made", "threw boom", "no stop, completed 1", "should stop", "returned"});
}

TEST_CASE("all drives give one trace when a hook fails behind the run") {
  check_drives(
      [](world&) -> action {
        return [](callback where, life& at) {
          if (where == callback::after_run && at.step() == 2) throw tautline::aborted_error("a hook's");
        };
      },
      opening + run_of(1) +
          lines{"before_run a step=2", "before_run b step=2", "run 2", "after_run a step=2 loss=1", "on_error a aborted",
                "on_error b aborted", "close a", "close b", "session_closed 1", "made", "threw aborted",
                "no stop, completed 2", "should stop", "returned"});
}

TEST_CASE("all drives give one trace when the session is made anew within the loop") {
  check_drives(
      [](world& of) -> action {
        of.in_run = [](long run) -> tautline::status {
          return run == 2 ? tautline::status{error_kind::aborted, "gone"} : tautline::status{};
        };
        of.first_step = 7;
        return [](callback where, life& at) {
          if (where == callback::after_run && at.step() == 9) at.request_stop("enough");
        };
      },
      opening +
          lines{"before_run a step=8", "before_run b step=8", "run 1", "after_run a step=8 loss=0.5",
                "after_run b step=8 loss=0.5",
                // the second run fails, and its step comes again, from the step of the new session
                "before_run a step=9", "before_run b step=9", "run 2", "on_error a aborted", "on_error b aborted",
                "session_closed 1", "session 2", "after_create_session a", "after_create_session b",
                "before_run a step=8", "before_run b step=8", "run 3", "after_run a step=8 loss=1.5",
                "after_run b step=8 loss=1.5", "before_run a step=9", "before_run b step=9", "run 4",
                "after_run a step=9 loss=2", "after_run b step=9 loss=2", "end a", "end b", "close a", "close b",
                "session_closed 2", "made", "returned", "stop by support::probe at 9: enough, completed 9", "should stop",
                "returned"});
}

TEST_CASE("a run that is repeated after a stop request takes place in all drives") {
  check_drives(
      [](world& of) -> action {
        of.in_run = [](long run) -> tautline::status {
          return run == 1 ? tautline::status{error_kind::aborted, "gone"} : tautline::status{};
        };
        return [](callback where, life& at) {
          if (where == callback::before_run) at.request_stop("enough");
        };
      },
      opening +
          lines{"before_run a step=1", "before_run b step=1", "run 1", "on_error a aborted", "on_error b aborted",
                "session_closed 1", "session 2", "after_create_session a", "after_create_session b",
                "before_run a step=1", "before_run b step=1", "run 2", "after_run a step=1 loss=1",
                "after_run b step=1 loss=1", "end a", "end b", "close a", "close b", "session_closed 2", "made",
                "returned", "stop by support::probe at 1: enough, completed 1", "should stop", "returned"});
}

struct silent {
  static tautline::status run(auto const&) { return {}; }
};

TEST_CASE("steps are counted from the initial step of the options where the backend does not say it") {
  auto session = monitored(silent{}, options{tautline::initial_step{40}}, stop_after{42});
  CHECK(session.completed_steps() == 40);
  auto const done = session.run_to_completion();
  CHECK(done.steps == 42);
  CHECK(done.stop.step == 42);
}

// --- steps() ---------------------------------------------------------------------------------------------------------

TEST_CASE("steps() runs when somebody looks: n looks are n runs, and ++ only marks") {
  world of;
  auto session = two_probes(of, {});
  {
    auto range = session.steps(target<"train">);
    CHECK(of.runs == 0);
    auto at = range.begin();
    CHECK(of.runs == 0);
    CHECK((*at).step() == 1);
    CHECK(of.runs == 1);
    CHECK((*at).step() == 1);  // a second look is no second run
    CHECK(at != range.end());
    CHECK(range.end() != at);
    CHECK_FALSE(at == range.end());
    CHECK_FALSE(range.end() == at);
    CHECK(of.runs == 1);
    ++at;
    CHECK(of.runs == 1);
    CHECK(at != range.end());
    CHECK(of.runs == 2);
    CHECK(at->step() == 2);
    ++at;
    ++at;  // marks it twice, which is one run
    CHECK(at->step() == 3);
    CHECK(of.runs == 3);
    at++;
  }
  CHECK(of.runs == 3);  // what was marked and never looked at is not made
  CHECK(session.is_open());
}

TEST_CASE("the run in which a stop was asked for is shown by steps(), and is the last one") {
  world of;
  std::vector<step_number> shown;
  SUBCASE("by a hook before the run") {
    auto session = two_probes(of, [](callback where, life& at) {
      if (where == callback::before_run && at.step() == 2) at.request_stop("enough");
    });
    for (auto const& step : session.steps()) shown.push_back(step.step());
  }
  SUBCASE("by a hook behind the run") {
    auto session = monitored(backend{of}, settings(of), stop_after{2});
    for (auto const& step : session.steps()) shown.push_back(step.step());
  }
  SUBCASE("by the caller during the run") {
    std::function<void()> ask;
    of.in_run = [&](long run) -> tautline::status {
      if (run == 2) ask();
      return {};
    };
    auto session = two_probes(of, {});
    ask = [&] { session.request_stop("enough"); };
    for (auto const& step : session.steps()) shown.push_back(step.step());
  }
  SUBCASE("by the caller who looks") {
    auto session = two_probes(of, {});
    for (auto const& step : session.steps()) {
      shown.push_back(step.step());
      if (step.step() == 2) session.request_stop("enough");
    }
  }
  CHECK(shown == std::vector<step_number>{1, 2});
  CHECK(of.runs == 2);
}

TEST_CASE("leaving the loop leaves the session open for every other drive") {
  world of;
  auto session = two_probes(of, {});
  for (auto const& step : session.steps(target<"train">)) {
    if (step.step() == 2) break;
  }
  CHECK(session.is_open());
  CHECK_FALSE(session.should_stop());
  CHECK(session.run(target<"train">));
  CHECK(session.run_steps(2, target<"train">).steps == 5);
  CHECK(session.run_for(20, target<"train">).steps == 7);
  for (auto const& step : session.steps(target<"train">)) {
    CHECK(step.step() == 8);
    break;
  }
  session.request_stop();
  CHECK(session.run_to_completion(target<"train">).steps == 8);
  session.close();
  CHECK(of.trace.back() == "session_closed 1");
  CHECK(of.trace[of.trace.size() - 5] == "end a");
}

TEST_CASE("one steps() at a time: a second one, and the drives that need its loop, are busy") {
  world of;
  auto session = two_probes(of, {});
  {
    auto first = session.steps(target<"train">);
    CHECK(first.begin()->step() == 1);
    CHECK_THROWS_AS((void)session.steps(target<"train">), tautline::busy_error);
    CHECK_THROWS_AS((void)session.run_to_completion(target<"train">), tautline::busy_error);
    CHECK_THROWS_AS((void)session.run_steps(1, target<"train">), tautline::busy_error);
    CHECK_THROWS_AS((void)session.run_for(100, target<"train">), tautline::busy_error);
    CHECK_THROWS_AS((void)session.run_for(0, target<"train">), tautline::busy_error);
    CHECK(session.try_run_to_completion(target<"train">).error == error_kind::busy);
    CHECK(of.runs == 1);
    CHECK(session.is_open());         // an error of the call, not of the session
    CHECK_FALSE(session.status());
    CHECK(first.begin()->step() == 2);  // and the first one goes on
  }
  auto second = session.steps(target<"train">);
  CHECK(second.begin()->step() == 3);
}

TEST_CASE("a steps() is over with the last copy of its handle") {
  world of;
  auto session = two_probes(of, {});
  auto first = session.steps(target<"train">);
  {
    auto copy = first;
    CHECK(copy.begin()->step() == 1);
    auto const moved = std::move(first);
    CHECK(moved.begin()->step() == 2);
    first = moved;
  }
  CHECK(session.try_run_to_completion().error == error_kind::busy);
  CHECK(first.begin()->step() == 3);
  {
    auto const taken = std::move(first);
    auto& same = first;
    first = same;  // an empty handle
  }
  CHECK(session.run_steps(1).steps == 4);
}

TEST_CASE("a handle of one session takes the place of another one's") {
  world of;
  world other;
  auto session = two_probes(of, {});
  auto second = two_probes(other, {});
  auto first_range = session.steps();
  auto second_range = second.steps();
  first_range = second_range;
  CHECK(first_range.begin()->step() == 1);
  CHECK(other.runs == 1);
  CHECK(session.run_steps(1).steps == 1);  // its own loop is over
  CHECK(second.try_run_to_completion().error == error_kind::busy);
}

TEST_CASE("a run while a steps() is alive is allowed, and the range sees it") {
  world of;
  auto session = two_probes(of, {});
  std::vector<step_number> shown;
  for (auto const& step : session.steps(target<"train">, fetch<"loss">)) {
    shown.push_back(step.step());
    if (step.step() == 1) {
      auto const between = session.run(target<"train">, fetch<"loss">);
      CHECK(between[fetch<"loss">] == 1.0f);
    }
    if (step.step() == 4) session.request_stop();
  }
  CHECK(shown == std::vector<step_number>{1, 3, 4});
}

TEST_CASE("a stop between two looks ends the range") {
  world of;
  auto session = two_probes(of, {});
  auto range = session.steps();
  auto at = range.begin();
  CHECK(at->step() == 1);
  session.request_stop();
  CHECK(at != range.end());  // the run that was shown stays shown
  ++at;
  CHECK(at == range.end());
  CHECK(at == range.end());
  CHECK(of.runs == 1);
}

TEST_CASE("a range over a session that has stopped, or is closed, is empty") {
  world of;
  auto session = two_probes(of, {});
  session.request_stop();
  for (auto const& step : session.steps()) FAIL("a run: ", step.step());
  session.close();
  for (auto const& step : session.steps()) FAIL("a run: ", step.step());
  CHECK(of.runs == 0);
}

TEST_CASE("closing within the loop ends it") {
  world of;
  auto session = two_probes(of, {});
  int shown = 0;
  for (auto const& step : session.steps()) {
    ++shown;
    CHECK(step.step() == 1);
    session.close();
  }
  CHECK(shown == 1);
}

TEST_CASE("what steps() shows has the caller's values and what the caller asked for") {
  world of;
  auto session = two_probes(of, {});
  for (auto const& step : session.steps(target<"train">, fetch<"loss">)) {
    CHECK(step[fetch<"loss">] == 0.5f);
    CHECK(step.get<"loss">() == 0.5f);
    CHECK(&step[fetch<"loss">] == &session.raw()[fetch<"loss">]);
    using asked = tautline::run_args<std::remove_cvref_t<decltype(target<"train">)>, std::remove_cvref_t<decltype(fetch<"loss">)>>;
    CHECK(std::is_same_v<decltype(step.original_args()), asked const&>);
    CHECK(step.session().step() == 1);
    break;
  }
}

// --- run_steps -------------------------------------------------------------------------------------------------------

TEST_CASE("run_steps makes that many runs, fewer if it has to stop, and none for zero") {
  world of;
  of.input_length = 5;
  auto session = two_probes(of, {});
  CHECK(session.run_steps(0).steps == 0);
  CHECK(session.run_steps(-3).steps == 0);
  CHECK(of.runs == 0);
  auto const two = session.run_steps(2);
  CHECK(two.steps == 2);
  CHECK(two);
  CHECK_FALSE(two.stop);
  auto const rest = session.run_steps(100);
  CHECK(rest.steps == 5);
  CHECK(std::string(rest.stop.by) == "end_of_input");
  CHECK(session.run_steps(1).steps == 5);
  CHECK(of.runs == 6);
}

TEST_CASE("run_steps counts runs, also where a run makes several steps") {
  world of;
  of.per_run = 5;
  auto session = two_probes(of, {});
  CHECK(session.run_steps(3).steps == 15);
  CHECK(of.runs == 3);
}

TEST_CASE("a run that was repeated counts once in run_steps") {
  world of;
  of.in_run = [](long run) -> tautline::status {
    return run == 1 ? tautline::status{error_kind::unavailable, "gone"} : tautline::status{};
  };
  auto session = two_probes(of, {});
  CHECK(session.run_steps(2).steps == 2);
  CHECK(of.runs == 3);
}

// --- run_for ---------------------------------------------------------------------------------------------------------

TEST_CASE("run_for starts no step unless the longest step that was declared still fits") {
  world of;
  auto session = two_probes(of, {});  // declares 10 ticks
  CHECK(session.run_for(0).steps == 0);
  CHECK(session.run_for(9).steps == 0);
  CHECK(of.runs == 0);
  CHECK(session.run_for(10).steps == 1);
  CHECK(session.run_for(19).steps == 2);
  CHECK(session.run_for(20).steps == 4);
  CHECK(session.overruns() == 0);
  of.ticks_a_run = 3;
  CHECK(session.run_for(15).steps == 6);  // after two steps 9 ticks are left, and 10 are declared
  CHECK(session.overruns() == 0);
}

TEST_CASE("a step that is longer than declared is an overrun, which is counted") {
  world of;
  of.ticks_a_run = 11;
  auto session = two_probes(of, {});
  CHECK(session.run_for(10).steps == 1);
  CHECK(session.overruns() == 1);
  CHECK(session.run_for(11).steps == 2);
  CHECK(session.overruns() == 1);
  CHECK(session.run_for(10).steps == 3);
  CHECK(session.overruns() == 2);
}

TEST_CASE("without a declaration run_for wants 1.25 times the longest step seen, and the first slice may overrun") {
  world of;
  auto session = monitored(backend{of}, options{tautline::with_clock{run_clock{&of}}}, probe{&of, "a"});
  CHECK(session.run_for(0).steps == 0);  // not even the first slice starts without a budget
  CHECK(session.run_for(4).steps == 1);
  CHECK(session.overruns() == 1);
  CHECK(session.run_for(4).steps == 1);   // now it knows better
  CHECK(session.run_for(12).steps == 1);  // 12.5 are wanted
  CHECK(session.run_for(13).steps == 2);
  CHECK(session.run_for(22).steps == 3);  // 12 are left after the first
  CHECK(session.run_for(23).steps == 5);
  of.ticks_a_run = 2;
  CHECK(session.run_for(13).steps == 6);  // the longest one seen stays
  CHECK(session.overruns() == 1);
}

TEST_CASE("run_for with all the time there is runs until the stop") {
  world of;
  of.ticks = 1000;
  auto session = monitored(backend{of}, options{tautline::with_clock{run_clock{&of}}}, stop_after{3});
  auto const done = session.run_for(~std::uint64_t{0});
  CHECK(done.steps == 3);
  CHECK(std::string(done.stop.by) == "support::stop_after");
}

TEST_CASE("run_for takes a budget in a unit that the clock understands") {
  struct milliseconds {
    int count;
  };
  struct unit_clock {
    world* of;
    [[nodiscard]] std::uint64_t now() const { return of->ticks; }
    static constexpr std::uint64_t ticks_per_second() { return 10'000; }
    static constexpr std::uint64_t ticks(milliseconds budget) { return static_cast<std::uint64_t>(budget.count) * 10; }
  };
  world of;
  auto session = monitored(backend{of}, options{tautline::with_clock{unit_clock{&of}}, tautline::longest_step{10}},
                           probe{&of, "a"});
  CHECK(session.run_for(milliseconds{3}, target<"train">).steps == 3);
}

TEST_CASE("run_for leaves the session open, and what it returns says whether a stop was asked for") {
  world of;
  of.input_length = 3;
  auto session = two_probes(of, {});
  CHECK_FALSE(session.run_for(20).stop);
  CHECK(session.is_open());
  CHECK(session.run_for(20).stop);
  CHECK(session.is_open());
  CHECK(of.runs == 4);
}

}  // namespace
