// SPDX-License-Identifier: BSL-1.0
// flags: -fno-exceptions -fno-rtti
#include "../core/support.hpp"

#include <tautline/sessions/static_graph.hpp>
#include <tautline/sessions/step_function.hpp>

// Without exceptions an error is a value: in a status, in what a drive returns, in a session that was never open.

#if defined(__cpp_exceptions)
#error "this test is about a build without exceptions"
#endif

namespace {

using namespace support;
using tautline::monitored;
using tautline::named;
using tautline::options;

using action = std::function<void(callback, life&)>;

action failing_in(callback asked, error_kind kind = error_kind::nan) {
  return [asked, kind](callback where, life& at) {
    if (where == asked) at.fail(kind, {"not finite at {}", 7});
  };
}

TEST_CASE("an error that a hook reports in a run closes the session, and is in what the run returns") {
  for (callback const asked : {callback::before_run, callback::after_run}) {
    CAPTURE(to_string(asked));
    world of;
    auto session = monitored(backend{of}, named<"watch">(probe{&of, "a", failing_in(asked)}), probe{&of, "b"});
    of.trace.clear();
    auto const result = session.run(fetch<"loss">);
    CHECK_FALSE(result);
    CHECK_FALSE(result.end_of_input());
    CHECK(result.error() == error_kind::nan);
    CHECK_FALSE(session.is_open());
    CHECK(session.should_stop());
    CHECK(written(session.status()) == "not finite at 7 (nan, hook watch, " + std::string(to_string(asked)) + ", step 1)");
    CHECK(session.completed_steps() == (asked == callback::after_run ? 1 : 0));
    lines const behind = {"on_error a nan", "on_error b nan", "close a", "close b", "session_closed 1"};
    CHECK(joined({of.trace.end() - 5, of.trace.end()}) == joined(behind));
    CHECK(session.run().error() == error_kind::run_after_stop);
    CHECK(session.try_close().kind == error_kind::none);
  }
}

TEST_CASE("every drive returns the error") {
  auto const play = [](auto drive) {
    world of;
    of.in_run = [](long run) {
      return run == 3 ? tautline::status{error_kind::internal, "broken"} : tautline::status{};
    };
    auto session = monitored(backend{of}, options{tautline::with_clock{run_clock{&of}}, tautline::frame_bytes<1024>{}},
                             probe{&of, "a"});
    drive(session);
    CHECK(session.completed_steps() == 2);
    CHECK(written(session.status()) == "broken (internal, run, step 3)");
    CHECK_FALSE(session.is_open());
    return joined(of.trace);
  };
  std::string const trace = play([](auto& s) {
    auto const done = s.run_to_completion();
    CHECK_FALSE(done);
    CHECK(done.error == error_kind::internal);
    CHECK(done.steps == 2);
  });
  CHECK(trace == play([](auto& s) {
          int shown = 0;
          for (auto const& step : s.steps()) shown = static_cast<int>(step.step());
          CHECK(shown == 2);
        }));
  CHECK(trace == play([](auto& s) {
          while (s.run()) {
          }
        }));
  CHECK(trace == play([](auto& s) {
          while (!s.should_stop()) CHECK(s.run_for(15).steps <= 2);
        }));
  CHECK(trace == play([](auto& s) { CHECK(s.run_steps(7).error == error_kind::internal); }));
}

TEST_CASE("a hook that fails in begin gives a session that was never open") {
  world of;
  auto session = monitored(backend{of}, probe{&of, "a", failing_in(callback::begin, error_kind::invalid_argument)},
                           probe{&of, "b"});
  CHECK_FALSE(session.is_open());
  CHECK(session.should_stop());
  CHECK(session.status().kind == error_kind::invalid_argument);
  CHECK(session.status().where == callback::begin);
  CHECK_FALSE(session.status().has_step);
  CHECK(joined(of.trace) ==
        joined({"begin a", "on_error a invalid_argument", "on_error b invalid_argument", "close a", "close b"}));
  CHECK(session.run().error() == error_kind::run_after_stop);
  CHECK(session.run_to_completion().error == error_kind::invalid_argument);
  for (auto const& step : session.steps()) FAIL_CHECK("a run: ", step.step());
  session.close();
  CHECK(of.runs == 0);
}

TEST_CASE("a session that cannot be made says why in its status") {
  world of;
  SUBCASE("the backend") {
    of.in_open = [](long) { return tautline::status{error_kind::invalid_argument, "no such file"}; };
    auto session = monitored(backend{of}, probe{&of, "a"});
    CHECK(written(session.status()) == "no such file (invalid_argument, create_session)");
    CHECK_FALSE(session.is_open());
  }
  SUBCASE("a hook") {
    auto session = monitored(backend{of}, probe{&of, "a", failing_in(callback::after_create_session)});
    CHECK(session.status().where == callback::after_create_session);
    CHECK(of.trace.back() == "session_closed 1");
  }
}

TEST_CASE("errors in end and close keep no hook from its own, and close() gives the first") {
  world of;
  auto const fail = [](callback where, life& at) {
    if (where == callback::end || where == callback::close) at.fail(error_kind::error, "late");
  };
  auto session = monitored(backend{of}, probe{&of, "a", fail}, probe{&of, "b", fail});
  of.trace.clear();
  CHECK(session.try_close().where == callback::end);
  CHECK(joined(of.trace) == joined({"end a", "end b", "close a", "close b", "session_closed 1"}));
  CHECK(session.attached_errors().count() == 3);
  CHECK(session.attached_errors()[2].where == callback::close);
}

TEST_CASE("an error in on_error is attached") {
  world of;
  of.in_run = [](long) { return tautline::status{error_kind::internal, "broken"}; };
  auto session = monitored(backend{of}, probe{&of, "a", failing_in(callback::on_error)});
  CHECK(session.run().error() == error_kind::internal);
  CHECK(session.attached_errors().count() == 1);
}

TEST_CASE("what end reports in the destructor goes to the handler") {
  world of;
  lines told;
  {
    auto session = monitored(
        backend{of}, options{tautline::on_close_error{[&](tautline::error const& met) { told.push_back(written(met)); }}},
        named<"a">(probe{&of, "a", failing_in(callback::end)}));
    (void)session.run();
  }
  CHECK(joined(told) == "not finite at 7 (nan, hook a, end, step 1)\n");
}

TEST_CASE("abandon() closes without end, for callers whose own code fails") {
  world of;
  {
    auto session = monitored(backend{of}, probe{&of, "a"});
    (void)session.run();
    of.trace.clear();
    session.abandon();
    CHECK_FALSE(session.is_open());
  }
  CHECK(joined(of.trace) == joined({"close a", "session_closed 1"}));
}

TEST_CASE("leaving the scope is a success") {
  world of;
  {
    auto session = monitored(backend{of}, probe{&of, "a"});
    of.trace.clear();
  }
  CHECK(joined(of.trace) == joined({"end a", "close a", "session_closed 1"}));
}

TEST_CASE("the end of the input is no error") {
  world of;
  of.input_length = 2;
  auto session = monitored(backend{of}, probe{&of, "a"});
  CHECK(session.run());
  CHECK(session.run());
  auto const last = session.run();
  CHECK(last.end_of_input());
  CHECK(last.error() == error_kind::none);
  CHECK_FALSE(session.status());
  CHECK(described(session.stop()) == "stop by end_of_input at 3: end of input");
  session.close();
  CHECK(joined({of.trace.end() - 3, of.trace.end()}) == joined({"end a", "close a", "session_closed 1"}));
}

TEST_CASE("aborted is recovered, up to the bound") {
  world of;
  long failures = 5;
  of.in_run = [&](long run) {
    return run <= failures ? tautline::status{error_kind::aborted, "gone"} : tautline::status{};
  };
  SUBCASE("five") {
    auto session = monitored(backend{of}, probe{&of, "a"});
    CHECK(session.run());
    CHECK(of.sessions == 6);
  }
  SUBCASE("six") {
    failures = 6;
    auto session = monitored(backend{of}, probe{&of, "a"});
    CHECK(session.run().error() == error_kind::aborted);
  }
  SUBCASE("of a hook") {
    auto session = monitored(backend{of}, probe{&of, "a", failing_in(callback::after_run, error_kind::aborted)});
    failures = 0;
    CHECK(session.run().error() == error_kind::aborted);
    CHECK(of.sessions == 1);
  }
}

struct rare_feeder {
  auto before_run(auto& ctx) const { return tautline::ask_if(ctx.step() == 2, tautline::feed<"bias">(1.0f)); }
};

TEST_CASE("a conflict of feeds is a value, too") {
  auto graph = tautline::static_graph{}.placeholder<"bias">(0.5f).op<"loss", "bias">([](float bias) { return bias; });
  auto session = monitored(graph, rare_feeder{}, rare_feeder{});
  CHECK(session.run(fetch<"loss">)[fetch<"loss">] == 0.5f);
  CHECK(session.run(fetch<"loss">).error() == error_kind::feed_conflict);
}

TEST_CASE("a raw run of a hook returns its error") {
  world of;
  of.in_run = [](long run) {
    return run == 2 ? tautline::status{error_kind::aborted, "gone"} : tautline::status{};
  };
  auto session = monitored(backend{of}, probe{&of, "a"});
  CHECK(session.run());
  CHECK(session.raw().run(fetch<"loss">).error() == error_kind::aborted);
  CHECK(session.is_open());
}

TEST_CASE("a busy loop, and a frame that does not fit, are values") {
  world of;
  auto session = monitored(backend{of}, probe{&of, "a"});
  {
    auto const first = session.steps();
    CHECK(first.begin()->step() == 1);
    CHECK(session.run_to_completion().error == error_kind::busy);
    CHECK(first.error() == error_kind::none);
    auto const second = session.steps();
    CHECK(second.error() == error_kind::busy);
    for (auto const& step : second) FAIL_CHECK("a run: ", step.step());
    CHECK(first.begin()->step() == 2);
  }
  CHECK(session.is_open());
#if !defined(__OPTIMIZE__)  // optimised builds refuse it at compile time
  auto small = monitored(tautline::step_function([] {}), options{tautline::frame_bytes<64>{}}, stop_after{2});
  CHECK(small.run_to_completion().error == error_kind::frame_too_small);
  auto const refused = small.steps();
  CHECK(refused.error() == error_kind::frame_too_small);
  for (auto const& step : refused) FAIL_CHECK("a run: ", step.step());
  CHECK(small.run());
#endif
}

}  // namespace
