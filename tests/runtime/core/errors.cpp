// SPDX-License-Identifier: BSL-1.0
#include <memory>
#include <optional>
#include <stdexcept>

#include "support.hpp"

#include <tautline/sessions/static_graph.hpp>

// Errors, with exceptions on: what reaches the caller, who is told, and what is called no more.

namespace {

using namespace support;
using tautline::monitored;
using tautline::named;
using tautline::options;
using tautline::try_monitored;

using action = std::function<void(callback, life&)>;

struct own_error {
  int code;
};
/// A user's type, of a kind that the library knows.
struct lost_worker : tautline::unavailable_error {
  explicit lost_worker(int which) : tautline::unavailable_error("a worker is lost"), worker(which) {}
  int worker;
};
struct no_more_rows : tautline::end_of_input_error {};

/// Fails in one callback, in whatever way.
action failing_in(callback asked, std::function<void(life&)> fail) {
  return [asked, fail](callback where, life& at) {
    if (where == asked) fail(at);
  };
}

callback const run_callbacks[] = {callback::before_run, callback::after_run};
callback const all_callbacks[] = {callback::begin,     callback::after_create_session,
                                  callback::before_run, callback::after_run,
                                  callback::end,        callback::close};

/// The whole life of a session whose hook fails in one callback: makes one run, then closes.
template <class Check>
void live(callback asked, std::function<void(life&)> fail, Check check) {
  CAPTURE(to_string(asked));
  world of;
  check([&] {
    auto session = monitored(backend{of}, probe{&of, "a", failing_in(asked, fail)}, probe{&of, "b"});
    (void)session.run_steps(1);
    session.close();
  });
}

TEST_CASE("the caller gets the very exception, from every callback") {
  for (callback const asked : all_callbacks) {
    live(asked, [](life&) { throw std::out_of_range("index 7"); }, [](auto body) {
      CHECK_THROWS_WITH_AS(body(), "index 7", std::out_of_range);
    });
    live(asked, [](life&) { throw own_error{7}; }, [](auto body) {
      int code = 0;
      try {
        body();
      } catch (own_error const& mine) {
        code = mine.code;
      }
      CHECK(code == 7);
    });
    live(asked, [](life&) { throw 42; }, [](auto body) { CHECK_THROWS_AS(body(), int); });
    live(asked, [](life&) { throw lost_worker(3); }, [](auto body) {
      int worker = 0;
      try {
        body();
      } catch (lost_worker const& mine) {
        worker = mine.worker;
      }
      CHECK(worker == 3);
    });
  }
}

TEST_CASE("the caller gets the very exception from the session, its making and its closing") {
  world of;
  std::function<tautline::status()> const fail = []() -> tautline::status { throw own_error{5}; };
  SUBCASE("run") { of.in_run = [&](long) { return fail(); }; }
  SUBCASE("open") { of.in_open = [&](long) { return fail(); }; }
  SUBCASE("close") { of.in_close = fail; }
  int code = 0;
  try {
    auto session = monitored(backend{of}, probe{&of, "a"});
    (void)session.run_steps(1);
    session.close();
  } catch (own_error const& mine) {
    code = mine.code;
  }
  CHECK(code == 5);
}

TEST_CASE("the caller gets the very exception from a graph's nodes") {
  int run = 0;
  auto const fail_at_2 = [&run] {
    if (++run == 2) throw own_error{run};
  };
  auto const check = [](auto graph) {
    auto session = monitored(std::move(graph), stop_after{5});
    CHECK_THROWS_AS((void)session.run_to_completion(target<"train">), own_error);
    CHECK(session.completed_steps() == 1);
    CHECK(session.status().where == callback::run);
  };
  SUBCASE("a source") {
    check(tautline::static_graph{}
              .source<"x">(0.0f,
                           [=](float& x) {
                             fail_at_2();
                             x = 1;
                             return true;
                           })
              .update<"train", "x">([](float) {}));
  }
  SUBCASE("an update") {
    check(tautline::static_graph{}.variable<"w">(0.0f).update<"train", "w">([=](float& w) {
      fail_at_2();
      w += 1;
    }));
  }
}

// --- who is told -----------------------------------------------------------------------------------------------------

TEST_CASE("an error in a run: no after_run, no end; on_error of all, then close of all, in order") {
  world of;
  of.in_run = [](long) -> tautline::status { throw std::runtime_error("boom"); };
  auto session = monitored(backend{of}, probe{&of, "a"}, probe{&of, "b"});
  of.trace.clear();
  CHECK(outcome_of([&] { (void)session.run(); }) == "threw boom");
  CHECK(joined(of.trace) == joined({"before_run a step=1", "before_run b step=1", "run 1", "on_error a error",
                                    "on_error b error", "close a", "close b", "session_closed 1"}));
  CHECK_FALSE(session.is_open());
  CHECK(session.should_stop());
  CHECK_FALSE(session.stop());
}

TEST_CASE("a caught error, then close(): still no end") {
  world of;
  of.in_run = [](long) -> tautline::status { throw std::runtime_error("boom"); };
  {
    auto session = monitored(backend{of}, probe{&of, "a"});
    CHECK_THROWS((void)session.run());
    of.trace.clear();
    session.close();
    CHECK(session.try_close().kind == error_kind::none);
    session.abandon();
  }
  CHECK(of.trace.empty());
}

TEST_CASE("an error cuts its event short, and all hooks are told") {
  lines expected;
  callback asked = callback::none;
  SUBCASE("begin") {
    asked = callback::begin;
    expected = {"begin a", "on_error a error", "on_error b error", "close a", "close b"};
  }
  SUBCASE("after_create_session") {
    asked = callback::after_create_session;
    expected = {"begin a",          "begin b",          "session 1", "after_create_session a",
                "on_error a error", "on_error b error", "close a",   "close b",
                "session_closed 1"};
  }
  SUBCASE("before_run") {
    asked = callback::before_run;
    expected = {"begin a", "begin b", "session 1", "after_create_session a", "after_create_session b",
                "before_run a step=1", "on_error a error", "on_error b error", "close a", "close b",
                "session_closed 1"};
  }
  SUBCASE("after_run") {
    asked = callback::after_run;
    expected = {"begin a", "begin b", "session 1", "after_create_session a", "after_create_session b",
                "before_run a step=1", "before_run b step=1", "run 1", "after_run a step=1 loss=0.5",
                "on_error a error", "on_error b error", "close a", "close b", "session_closed 1"};
  }
  for (bool const thrown : {true, false}) {
    CAPTURE(thrown);
    world of;
    auto const fail = [thrown](life& at) {
      if (thrown) throw std::runtime_error("boom");
      at.fail(error_kind::error, "boom");
    };
    auto session = try_monitored(backend{of}, probe{&of, "a", failing_in(asked, fail)}, probe{&of, "b"});
    (void)session.try_run();
    session.close();
    CHECK(joined(of.trace) == joined(expected));
  }
}

TEST_CASE("one hook's failure in end or close keeps no other from its own; the first reaches the caller") {
  world of;
  auto const fail = [](std::string words) -> action {
    return [words](callback where, life&) {
      if (where == callback::end || where == callback::close) throw std::runtime_error(words + " " + to_string(where));
    };
  };
  of.in_close = []() -> tautline::status { throw std::runtime_error("the session"); };
  auto session = monitored(backend{of}, named<"a">(probe{&of, "a", fail("a")}), probe{&of, "b"},
                           named<"c">(probe{&of, "c", fail("c")}));
  of.trace.clear();
  CHECK_THROWS_WITH_AS(session.close(), "a end", std::runtime_error);
  CHECK(joined(of.trace) ==
        joined({"end a", "end b", "end c", "close a", "close b", "close c", "session_closed 1"}));
  CHECK(session.attached_errors().count() == 4);
  REQUIRE(session.attached_errors().size() == 4);
  CHECK(written(session.attached_errors()[0].message) == "c end");
  CHECK(written(session.attached_errors()[1].message) == "a close");
  CHECK(std::string(session.attached_errors()[2].hook) == "c");
  CHECK(session.attached_errors()[2].where == callback::close);
  CHECK(written(session.attached_errors()[3].message) == "the session");
  CHECK(std::string(session.attached_errors()[3].hook).empty());
  CHECK_THROWS_WITH(std::rethrow_exception(session.attached_errors()[0].cause), "c end");
  session.close();  // has been told once
}

TEST_CASE("four attached errors are kept, and all are counted") {
  world of;
  auto const fail = [](callback where, life& at) {
    if (where != callback::end) return;
    at.fail(error_kind::internal, {"number {}", at.step()});
    at.fail(error_kind::internal, "and one more");
  };
  auto session = monitored(backend{of}, probe{&of, "a", fail}, probe{&of, "b", fail}, probe{&of, "c", fail},
                           probe{&of, "d", fail});
  CHECK(session.attached_errors().count() == 0);
  CHECK(session.attached_errors().size() == 0);
  CHECK(session.try_close().kind == error_kind::internal);
  CHECK(session.attached_errors().count() == 7);
  CHECK(session.attached_errors().size() == 4);
  CHECK(written(session.attached_errors()[3].message) == "number 0");
}

TEST_CASE("an error in on_error is attached to the one it was told of") {
  world of;
  of.in_run = [](long) -> tautline::status { throw std::runtime_error("first"); };
  auto session = monitored(backend{of}, probe{&of, "a", failing_in(callback::on_error, [](life&) { throw own_error{1}; })},
                           probe{&of, "b"});
  CHECK_THROWS_WITH((void)session.run(), "first");
  CHECK(of.trace[of.trace.size() - 4] == "on_error b error");
  CHECK(session.attached_errors().count() == 1);
  CHECK(session.attached_errors()[0].where == callback::on_error);
}

// --- the destructor --------------------------------------------------------------------------------------------------

TEST_CASE("the destructor never throws; what end and close met there goes to the handler") {
  world of;
  auto const fail = [](callback where, life&) {
    if (where == callback::end) throw std::runtime_error("at the end");
  };
  SUBCASE("without a handler") {
    auto session = monitored(backend{of}, probe{&of, "a", fail});
    (void)session.run();
  }
  SUBCASE("with one") {
    lines told;
    {
      auto session = monitored(
          backend{of},
          options{tautline::on_close_error{[&](tautline::error const& met) { told.push_back(written(met)); }}},
          named<"a">(probe{&of, "a", fail}));
      (void)session.run();
      CHECK(told.empty());
    }
    CHECK(joined(told) == joined({"at the end (error, hook a, end, step 1)"}));
  }
  SUBCASE("a handler is not told what close() has told, nor of success") {
    lines told;
    auto const handler = tautline::on_close_error{[&](tautline::error const& met) { told.push_back(written(met)); }};
    {
      auto session = monitored(backend{of}, options{handler}, probe{&of, "a", fail});
      CHECK_THROWS(session.close());
    }
    { auto session = monitored(backend{of}, options{handler}, probe{&of, "a"}); }
    CHECK(told.empty());
  }
  CHECK(of.trace.back().starts_with("session_closed"));
}

TEST_CASE("leaving the scope is a success: end, then close") {
  world of;
  {
    auto session = monitored(backend{of}, probe{&of, "a"});
    (void)session.run();
    of.trace.clear();
  }
  CHECK(joined(of.trace) == joined({"end a", "close a", "session_closed 1"}));
}

TEST_CASE("unwinding is none, unless a stop or the end of the input was recorded before") {
  world of;
  lines expected = {"end a", "close a", "session_closed 1"};
  bool stops = false;
  SUBCASE("no stop") { expected = {"close a", "session_closed 1"}; }
  SUBCASE("a stop") { stops = true; }
  SUBCASE("the end of the input") { of.input_length = 0; }
  try {
    auto session = monitored(backend{of}, probe{&of, "a"});
    (void)session.run();
    if (stops) session.request_stop();
    of.trace.clear();
    throw own_error{1};  // the caller's own code fails
  } catch (own_error const&) {
  }
  CHECK(joined(of.trace) == joined(expected));
}

TEST_CASE("a session that is made, and left, while another exception unwinds is a success") {
  struct while_unwinding {
    world* of;
    explicit while_unwinding(world& given) : of(&given) {}
    while_unwinding(while_unwinding const&) = delete;
    while_unwinding& operator=(while_unwinding const&) = delete;
    ~while_unwinding() {
      auto session = monitored(backend{*of}, probe{of, "a"});
      (void)session.run();
      of->trace.clear();
    }
  };
  world of;
  try {
    while_unwinding const guard(of);
    throw own_error{1};
  } catch (own_error const&) {
  }
  CHECK(joined(of.trace) == joined({"end a", "close a", "session_closed 1"}));
}

TEST_CASE("abandon() closes without end, as unwinding does") {
  world of;
  auto session = monitored(backend{of}, probe{&of, "a"});
  of.trace.clear();
  session.abandon();
  CHECK_FALSE(session.is_open());
  session.abandon();
  session.close();
  CHECK(joined(of.trace) == joined({"close a", "session_closed 1"}));
}

TEST_CASE("close() twice is close() once") {
  world of;
  auto session = monitored(backend{of}, probe{&of, "a"});
  session.close();
  CHECK_FALSE(session.is_open());
  of.trace.clear();
  session.close();
  CHECK(of.trace.empty());
}

// --- what is known of an error ---------------------------------------------------------------------------------------

TEST_CASE("an error has kind, message, callback, hook and step") {
  world of;
  of.first_step = 20;
  of.per_run = 5;
  callback asked = callback::none;
  bool has_step = true;
  step_number step = 0;
  SUBCASE("begin: no session, no step") { asked = callback::begin, has_step = false; }
  SUBCASE("after_create_session: completed steps") { asked = callback::after_create_session, step = 20; }
  SUBCASE("before_run: the run in progress") { asked = callback::before_run, step = 25; }
  SUBCASE("after_run: the run in progress") { asked = callback::after_run, step = 25; }
  SUBCASE("end: completed steps") { asked = callback::end, step = 25; }
  SUBCASE("close: completed steps") { asked = callback::close, step = 25; }
  auto session = try_monitored(
      backend{of}, probe{&of, "a"},
      named<"watch">(probe{&of, "b", failing_in(asked, [](life& at) { at.fail(error_kind::cancelled, {"by {}", 7}); })}));
  (void)session.try_run();
  tautline::error const closed = session.try_close();
  tautline::error const happened = session.status();
  CHECK(happened);
  CHECK(happened.kind == error_kind::cancelled);
  CHECK(happened.where == asked);
  CHECK(std::string(happened.hook) == "watch");
  CHECK(happened.has_step == has_step);
  if (has_step) CHECK(happened.step == step);
  CHECK(written(happened.message) == "by 7");
  bool const on_the_way_out = asked == callback::end || asked == callback::close;
  CHECK(closed.kind == (on_the_way_out ? error_kind::cancelled : error_kind::none));
  std::string const words = written(happened);
  CHECK(words == "by 7 (cancelled, hook watch, " + std::string(to_string(asked)) +
                     (has_step ? ", step " + number(step) : "") + ")");
}

TEST_CASE("an error of the session has no hook, and the step of the run in progress") {
  world of;
  of.in_run = [](long run) -> tautline::status {
    return run == 3 ? tautline::status{error_kind::internal, "broken"} : tautline::status{};
  };
  auto session = monitored(backend{of}, probe{&of, "a"});
  CHECK_THROWS_AS((void)session.run_to_completion(), tautline::internal_error);
  CHECK(written(session.status()) == "broken (internal, run, step 3)");
  CHECK(std::string(session.status().hook).empty());
}

TEST_CASE("an error in making a session says so, without a step") {
  world of;
  of.in_open = [](long) -> tautline::status { return {error_kind::invalid_argument, "no such file"}; };
  auto session = try_monitored(backend{of}, probe{&of, "a"});
  CHECK_FALSE(session.is_open());
  CHECK(session.should_stop());
  CHECK(written(session.status()) == "no such file (invalid_argument, create_session)");
  CHECK_THROWS_AS((void)monitored(backend{of}, probe{&of, "a"}), tautline::invalid_argument_error);
}

TEST_CASE("the kind of an exception is that of its type: any other is an error") {
  error_kind kind = error_kind::none;
  std::function<void()> raise;
  std::string message;
  SUBCASE("aborted") { kind = error_kind::aborted, raise = [] { throw tautline::aborted_error("m"); }, message = "m"; }
  SUBCASE("a type of the user's") {
    kind = error_kind::unavailable, raise = [] { throw lost_worker(1); }, message = "a worker is lost";
  }
  SUBCASE("the end of input, from a hook") {
    kind = error_kind::out_of_range, raise = [] { throw tautline::end_of_input_error("e"); }, message = "e";
  }
  SUBCASE("of the standard library") {
    kind = error_kind::error, raise = [] { throw std::logic_error("l"); }, message = "l";
  }
  SUBCASE("of no class at all") {
    kind = error_kind::error, raise = [] { throw 42; }, message = "an exception of a foreign type";
  }
  world of;
  auto session = monitored(backend{of}, probe{&of, "a", failing_in(callback::before_run, [&](life&) { raise(); })});
  CHECK(session.try_run().error() == kind);
  CHECK(session.status().kind == kind);
  CHECK(written(session.status().message) == message);
  CHECK(session.status().cause != nullptr);
}

// --- end of input ----------------------------------------------------------------------------------------------------

TEST_CASE("end of input is the session's alone: a status, an exception, or one of a derived type") {
  world of;
  SUBCASE("status") { of.in_run = [](long) { return tautline::status::end_of_input(); }; }
  SUBCASE("exception") { of.in_run = [](long) -> tautline::status { throw tautline::end_of_input_error("e"); }; }
  SUBCASE("derived") { of.in_run = [](long) -> tautline::status { throw no_more_rows(); }; }
  auto session = monitored(backend{of}, probe{&of, "a"});
  of.trace.clear();
  auto const result = session.run(fetch<"loss">);
  CHECK_FALSE(result);
  CHECK(result.end_of_input());
  CHECK_FALSE(session.status());
  session.close();
  CHECK(joined(of.trace) == joined({"before_run a step=1", "run 1", "end a", "close a", "session_closed 1"}));
}

TEST_CASE("the same error from a hook is an error") {
  for (callback const asked : run_callbacks) {
    world of;
    auto session =
        monitored(backend{of}, probe{&of, "a", failing_in(asked, [](life&) { throw tautline::end_of_input_error("e"); })});
    CHECK_THROWS_AS((void)session.run(), tautline::end_of_input_error);
    CHECK_FALSE(session.is_open());
    CHECK_FALSE(session.stop());
    CHECK(of.trace[of.trace.size() - 3] == "on_error a out_of_range");
  }
}

TEST_CASE("the end of input from the making of a session is an error") {
  world of;
  of.in_open = [](long) { return tautline::status::end_of_input(); };
  CHECK_THROWS_AS((void)monitored(backend{of}, probe{&of, "a"}), tautline::end_of_input_error);
  CHECK(of.trace[of.trace.size() - 2] == "on_error a out_of_range");
  CHECK(of.trace.back() == "close a");
}

// --- errors as values, with exceptions on ----------------------------------------------------------------------------

template <error_kind Kind>
void check_value_throws() {
  CAPTURE(to_string(Kind));
  world of;
  action const fail = failing_in(callback::after_run, [](life& at) { at.fail(Kind, {"by {} and {}", 1, 2.5}); });
  {
    auto session = monitored(backend{of}, named<"a">(probe{&of, "a", fail}));
    try {
      (void)session.run();
      FAIL("nothing was thrown");
    } catch (tautline::exception_of<Kind> const& thrown) {
      CHECK(thrown.kind() == Kind);
      CHECK(thrown.what() ==
            std::string("by 1 and 2.5 (") + to_string(Kind) + ", hook a, after_run, step 1)");
    }
    CHECK(session.status().cause == nullptr);
  }
  {
    auto session = monitored(backend{of}, probe{&of, "a", fail});
    CHECK(session.try_run().error() == Kind);
  }
}

TEST_CASE("an error that a hook reports as a value throws the exception of its kind") {
  check_value_throws<error_kind::out_of_range>();
  check_value_throws<error_kind::aborted>();
  check_value_throws<error_kind::unavailable>();
  check_value_throws<error_kind::internal>();
  check_value_throws<error_kind::invalid_argument>();
  check_value_throws<error_kind::cancelled>();
  check_value_throws<error_kind::error>();
  check_value_throws<error_kind::nan>();
  check_value_throws<error_kind::feed_conflict>();
}

TEST_CASE("life.fail has the effect of an exception in every callback") {
  for (callback const asked : all_callbacks) {
    live(asked, [](life& at) { at.fail(error_kind::nan, "not finite"); },
         [](auto body) { CHECK_THROWS_AS(body(), tautline::nan_error); });
  }
}

TEST_CASE("a message that was made at run time is copied") {
  world of;
  auto session = monitored(backend{of}, probe{&of, "a", failing_in(callback::after_run, [](life& at) {
                                                std::string const words = "tensor " + std::to_string(17);
                                                at.fail(error_kind::error, tautline::copied{words.c_str()});
                                              })});
  CHECK_FALSE(session.try_run());
  CHECK(written(session.status().message) == "tensor 17");
}

// --- the forms that do not throw -------------------------------------------------------------------------------------

TEST_CASE("the forms that begin with try_ do not throw") {
  for (callback const asked : all_callbacks) {
    CAPTURE(to_string(asked));
    world of;
    action const fail = failing_in(asked, [](life&) { throw own_error{1}; });
    auto session = try_monitored(backend{of}, probe{&of, "a", fail});
    bool const made = asked != callback::begin && asked != callback::after_create_session;
    CHECK(session.is_open() == made);
    auto const result = session.try_run(fetch<"loss">);
    CHECK(static_cast<bool>(result) == (made && asked != callback::before_run && asked != callback::after_run));
    CHECK(session.try_close().kind ==
          (asked == callback::end || asked == callback::close ? error_kind::error : error_kind::none));
    CHECK(session.status().kind == error_kind::error);
    CHECK(session.status().where == asked);
  }
}

TEST_CASE("try_run_to_completion gives the kind, and the details stay in status()") {
  world of;
  of.in_run = [](long run) -> tautline::status {
    if (run == 3) throw own_error{3};
    return {};
  };
  auto session = monitored(backend{of}, probe{&of, "a"});
  auto const done = session.try_run_to_completion();
  CHECK_FALSE(done);
  CHECK(done.error == error_kind::error);
  CHECK(done.steps == 2);
  CHECK(session.status().step == 3);
  CHECK_THROWS_AS(std::rethrow_exception(session.status().cause), own_error);
}

TEST_CASE("an error that has reached the caller is not thrown a second time") {
  world of;
  of.in_run = [](long) -> tautline::status { throw own_error{1}; };
  auto session = monitored(backend{of}, probe{&of, "a"});
  CHECK_THROWS_AS((void)session.run_to_completion(), own_error);
  CHECK(session.run_to_completion().error == error_kind::error);
  for (auto const& step : session.steps()) FAIL("a run: ", step.step());
  CHECK_THROWS_AS((void)session.run(), tautline::run_after_stop_error);
}

TEST_CASE("the cause of an error lives as long as somebody holds it") {
  tautline::error kept;
  {
    world of;
    of.in_run = [](long) -> tautline::status { throw std::runtime_error("a message of the exception's own"); };
    auto session = monitored(backend{of}, probe{&of, "a"});
    (void)session.try_run();
    kept = session.status();
  }
  CHECK(written(kept.message) == "a message of the exception's own");
}

TEST_CASE("no exception object outlives its session") {
  auto const held = std::make_shared<int>(1);
  struct holder {
    std::shared_ptr<int> what;
  };
  {
    world of;
    action const fail = [&](callback where, life&) {
      if (where == callback::end || where == callback::close) throw holder{held};
    };
    auto session = monitored(backend{of}, probe{&of, "a", fail}, probe{&of, "b", fail}, probe{&of, "c", fail});
    (void)session.try_close();
    CHECK(session.attached_errors().size() == 4);
    CHECK(held.use_count() > 4);
  }
  CHECK(held.use_count() == 1);
}

}  // namespace
