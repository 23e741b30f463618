// SPDX-License-Identifier: BSL-1.0
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "support.hpp"

// Stop requests: who may ask, what is recorded, and what they survive.

namespace {

using namespace support;
using tautline::copied;
using tautline::monitored;
using tautline::named;
using tautline::options;
using tautline::stop_source;

using action = std::function<void(callback, life&)>;

TEST_CASE("a stop records the hook by its name, the reason with its numbers, and the step of the run in progress") {
  world of;
  auto session = monitored(backend{of}, probe{&of, "a"}, named<"watch">(probe{&of, "b", [](callback where, life& at) {
                             if (where == callback::after_run && at.step() == 3) {
                               at.request_stop({"the loss is {} after {} steps", 0.25f, at.step()});
                             }
                           }}));
  CHECK_FALSE(session.stop());
  CHECK(session.stop().source == stop_source::none);
  auto const done = session.run_to_completion();
  CHECK(done.stop.source == stop_source::hook);
  CHECK(std::string(done.stop.by) == "watch");
  CHECK(done.stop.has_step);
  CHECK(done.stop.step == 3);
  CHECK(written(done.stop.reason) == "the loss is 0.25 after 3 steps");
  CHECK(described(session.stop()) == described(done.stop));
}

TEST_CASE("a hook without a name is recorded by its type") {
  world of;
  auto session = monitored(backend{of}, stop_after{1});
  CHECK(std::string(session.run_to_completion().stop.by) == "support::stop_after");
}

TEST_CASE("the first request wins, whoever asks later") {
  world of;
  SUBCASE("within one callback") {
    auto session = monitored(backend{of}, named<"a">(probe{&of, "a", [](callback where, life& at) {
                               if (where != callback::before_run) return;
                               at.request_stop("first");
                               at.request_stop("second");
                             }}));
    CHECK(described(session.run_to_completion().stop) == "stop by a at 1: first");
  }
  SUBCASE("within one event: the first hook in the order of calls") {
    action const ask = [](callback where, life& at) {
      if (where == callback::after_run && at.step() == 2) at.request_stop("me");
    };
    auto session = monitored(backend{of}, named<"a">(probe{&of, "a", ask}), named<"b">(probe{&of, "b", ask}));
    CHECK(described(session.run_to_completion().stop) == "stop by a at 2: me");
  }
  SUBCASE("before_run comes before after_run, also of an earlier hook") {
    auto session = monitored(backend{of}, named<"a">(probe{&of, "a", [](callback where, life& at) {
                               if (where == callback::after_run) at.request_stop("late");
                             }}),
                             named<"b">(probe{&of, "b", [](callback where, life& at) {
                               if (where == callback::before_run) at.request_stop("early");
                             }}));
    CHECK(described(session.run_to_completion().stop) == "stop by b at 1: early");
  }
  SUBCASE("a hook before the caller, and before the end of the input") {
    of.input_length = 1;
    auto session = monitored(backend{of}, named<"a">(probe{&of, "a", [](callback where, life& at) {
                               if (where == callback::before_run && at.step() == 2) at.request_stop("hook");
                             }}));
    (void)session.run_to_completion();
    session.request_stop("caller");
    CHECK(described(session.stop()) == "stop by a at 2: hook");
  }
  SUBCASE("the caller before a hook") {
    auto session = monitored(backend{of}, named<"a">(probe{&of, "a", [](callback where, life& at) {
                               if (where == callback::end) at.request_stop("hook");
                             }}));
    (void)session.run_steps(2);
    session.request_stop({"after {} runs", of.runs});
    session.request_stop("again");
    session.close();
    CHECK(described(session.stop()) == "stop by caller at 2: after 2 runs");
  }
  SUBCASE("the end of the input before the caller") {
    of.input_length = 2;
    auto session = monitored(backend{of}, probe{&of, "a"});
    (void)session.run_to_completion();
    session.request_stop("caller");
    CHECK(described(session.stop()) == "stop by end_of_input at 3: end of input");
    CHECK(session.stop().source == stop_source::end_of_input);
  }
}

TEST_CASE("a request does not cut the event short: all hooks see it, and the run is finished") {
  world of;
  auto session = monitored(backend{of}, probe{&of, "a", [](callback where, life& at) {
                             if (where == callback::before_run) at.request_stop();
                           }},
                           probe{&of, "b"});
  (void)session.run_to_completion();
  CHECK(joined(of.trace) == joined({"begin a", "begin b", "session 1", "after_create_session a",
                                    "after_create_session b", "before_run a step=1", "before_run b step=1", "run 1",
                                    "after_run a step=1 loss=0.5", "after_run b step=1 loss=0.5"}));
}

TEST_CASE("later hooks see in the same event that a stop was asked for, earlier ones do not") {
  lines seen;
  world of;
  auto const look = [&seen](char const* id) {
    return [&seen, id](callback where, life& at) {
      seen.push_back(std::string(id) + " " + to_string(where) + (at.stop_requested() ? " stopping" : " going"));
    };
  };
  callback asked = callback::none;
  lines expected;
  SUBCASE("in begin") {
    asked = callback::begin;
    expected = {"a begin going", "b begin stopping", "a after_create_session stopping",
                "b after_create_session stopping"};
  }
  SUBCASE("in after_create_session") {
    asked = callback::after_create_session;
    expected = {"a begin going", "b begin going", "a after_create_session going", "b after_create_session stopping"};
  }
  SUBCASE("in before_run") {
    asked = callback::before_run;
    expected = {"a begin going",      "b begin going",         "a after_create_session going",
                "b after_create_session going", "a before_run going", "b before_run stopping",
                "a after_run stopping", "b after_run stopping"};
  }
  SUBCASE("in after_run") {
    asked = callback::after_run;
    expected = {"a begin going",      "b begin going",       "a after_create_session going",
                "b after_create_session going", "a before_run going", "b before_run going",
                "a after_run going",  "b after_run stopping"};
  }
  auto const ask = [&](callback where, life& at) {
    if (where == asked) at.request_stop();
  };
  auto session = monitored(backend{of}, probe{&of, "a", look("a")}, probe{&of, "between", ask}, probe{&of, "b", look("b")});
  (void)session.run_to_completion();
  CHECK(joined(seen) == joined(expected));
  CHECK(session.raw().stop_requested());
}

TEST_CASE("a stop in begin has no step: there is no session yet, and no run will be") {
  world of;
  of.first_step = 9;
  auto session = monitored(backend{of}, named<"a">(probe{&of, "a", [](callback where, life& at) {
                             if (where == callback::begin) at.request_stop("nothing to do");
                           }}));
  CHECK(session.is_open());
  CHECK(session.should_stop());
  CHECK(described(session.stop()) == "stop by a at no step: nothing to do");
  CHECK(session.run_to_completion().steps == 9);
  CHECK(of.runs == 0);
  session.close();
  CHECK(joined(of.trace) ==
        joined({"begin a", "session 1", "after_create_session a", "end a", "close a", "session_closed 1"}));
}

TEST_CASE("a stop survives a recovery") {
  world of;
  of.in_run = [](long run) -> tautline::status {
    return run == 2 ? tautline::status{error_kind::aborted, "gone"} : tautline::status{};
  };
  auto session = monitored(backend{of}, named<"a">(probe{&of, "a", [](callback where, life& at) {
                             if (where == callback::before_run && at.step() == 2) at.request_stop("enough");
                           }}));
  auto const done = session.run_to_completion();
  CHECK(of.sessions == 2);
  CHECK(described(done.stop) == "stop by a at 2: enough");
  CHECK(session.should_stop());
}

TEST_CASE("a stop survives a later error") {
  world of;
  auto session = monitored(backend{of}, named<"a">(probe{&of, "a", [](callback where, life& at) {
                             if (where == callback::before_run) at.request_stop("enough");
                             if (where == callback::after_run) throw std::runtime_error("boom");
                           }}));
  CHECK(outcome_of([&] { (void)session.run_to_completion(); }) == "threw boom");
  CHECK(described(session.stop()) == "stop by a at 1: enough");
}

TEST_CASE("a stop and an error from one callback are both recorded") {
  world of;
  action both;
  SUBCASE("in a run") {
    both = [](callback where, life& at) {
      if (where != callback::before_run) return;
      at.request_stop("enough");
      throw std::runtime_error("boom");
    };
  }
  SUBCASE("when the session is made") {
    both = [](callback where, life& at) {
      if (where != callback::after_create_session) return;
      at.request_stop("enough");
      throw std::runtime_error("boom");
    };
  }
  SUBCASE("in begin") {
    both = [](callback where, life& at) {
      if (where != callback::begin) return;
      at.request_stop("enough");
      at.fail(error_kind::error, "boom");
    };
  }
  auto session = tautline::try_monitored(backend{of}, named<"a">(probe{&of, "a", both}));
  (void)session.try_run();
  CHECK(session.stop());
  CHECK(std::string(session.stop().by) == "a");
  CHECK(written(session.stop().reason) == "enough");
  CHECK(written(session.status().message) == "boom");
}

TEST_CASE("stop requests in on_error and close are recorded and change nothing") {
  world of;
  callback asked = callback::none;
  SUBCASE("on_error") { asked = callback::on_error; }
  SUBCASE("close") { asked = callback::close; }
  of.in_run = [&](long) -> tautline::status { return {error_kind::internal, "broken"}; };
  auto session = monitored(backend{of}, named<"a">(probe{&of, "a", [&](callback where, life& at) {
                             if (where == asked) at.request_stop("late");
                           }}));
  CHECK_FALSE(session.try_run());
  CHECK(described(session.stop()) == "stop by a at 0: late");
  CHECK(session.status().kind == error_kind::internal);
  CHECK(joined(of.trace) == joined({"begin a", "session 1", "after_create_session a", "before_run a step=1", "run 1",
                                    "on_error a internal", "close a", "session_closed 1"}));
}

TEST_CASE("a run after a stop is refused, and costs the hooks nothing") {
  world of;
  auto session = monitored(backend{of}, probe{&of, "a"});
  session.request_stop();
  CHECK_THROWS_AS((void)session.run(), tautline::run_after_stop_error);
  CHECK_THROWS_AS((void)session.run_without_hooks(), tautline::run_after_stop_error);
  CHECK_THROWS_AS((void)session.run_with<probe>(), tautline::run_after_stop_error);
  auto const refused = session.try_run(fetch<"loss">);
  CHECK_FALSE(refused);
  CHECK_FALSE(refused.end_of_input());
  CHECK(refused.error() == error_kind::run_after_stop);
  CHECK(of.runs == 0);
  CHECK(session.is_open());
  CHECK_FALSE(session.status());
  session.close();
  CHECK(joined(of.trace) ==
        joined({"begin a", "session 1", "after_create_session a", "end a", "close a", "session_closed 1"}));
  CHECK_THROWS_AS((void)session.run(), tautline::run_after_stop_error);
}

TEST_CASE("the drives that make many runs make none after a stop, and that is no error") {
  world of;
  auto session = monitored(backend{of}, options{tautline::with_clock{run_clock{&of}}}, probe{&of, "a"});
  session.request_stop("enough");
  CHECK(described(session.run_to_completion().stop) == "stop by caller at 0: enough");
  CHECK(session.run_steps(3));
  CHECK(session.run_for(100));
  CHECK(of.runs == 0);
}

TEST_CASE("the end of the input is remembered: no run follows it") {
  world of;
  of.input_length = 1;
  auto session = monitored(backend{of}, probe{&of, "a"});
  CHECK(session.run());
  auto const last = session.run(fetch<"loss">);
  CHECK_FALSE(last);
  CHECK(last.end_of_input());
  CHECK(last.error() == error_kind::none);
  CHECK(session.should_stop());
  CHECK_THROWS_AS((void)session.run(), tautline::run_after_stop_error);
  CHECK(of.runs == 2);
}

// --- reasons that are copied -----------------------------------------------------------------------------------------

TEST_CASE("a copied reason is kept after its owner is gone") {
  world of;
  auto session = monitored(backend{of}, named<"a">(probe{&of, "a", [](callback where, life& at) {
                             if (where != callback::before_run) return;
                             char words[40];
                             std::snprintf(words, sizeof words, "the host %s is hot", "n17");
                             at.request_stop(copied{words});
                             std::memset(words, 'x', sizeof words - 1);
                           }}));
  CHECK(described(session.run_to_completion().stop) == "stop by a at 1: the host n17 is hot");
  session.close();
  CHECK(described(session.stop()) == "stop by a at 1: the host n17 is hot");
}

TEST_CASE("a copied reason is cut to 95 characters") {
  world of;
  std::string const words(200, 'z');
  auto session = monitored(backend{of}, options{tautline::frame_bytes<1024>{}},
                           named<"a">(probe{&of, "a", [&](callback where, life& at) {
                             if (where == callback::before_run) at.request_stop(copied{words.c_str()});
                           }}));
  CHECK(written(session.run_to_completion().stop.reason) == std::string(95, 'z'));
}

TEST_CASE("a copied reason is not a text with places for numbers") {
  world of;
  auto session = monitored(backend{of}, named<"a">(probe{&of, "a", [&](callback where, life& at) {
                             if (where == callback::before_run) at.request_stop(copied{"{} and {}"});
                           }}));
  CHECK(written(session.run_to_completion().stop.reason) == "{} and {}");
}

TEST_CASE("where the session has no room for a copied reason the stop is recorded nevertheless") {
  world of;
  auto session = monitored(backend{of}, options{tautline::frame_bytes<64>{}},
                           named<"a">(probe{&of, "a", [&](callback where, life& at) {
                             if (where != callback::before_run) return;
                             at.request_stop(copied{"a reason of a length"});
                             at.fail(error_kind::error, copied{"and a second text"});
                           }}));
  CHECK_FALSE(session.try_run());
  CHECK(session.stop().step == 1);
  std::string const kept = written(session.stop().reason);
  CHECK((kept == "(no room to keep this text)" || std::string("a reason of a length").starts_with(kept)));
  CHECK(written(session.status().message) == "(no room to keep this text)");
}

TEST_CASE("a copied reason and the errors of many recoveries fit the session's memory") {
  world of;
  std::string const words(90, 'w');
  lines told;
  of.in_run = [](long run) -> tautline::status {
    if (run <= 5) throw tautline::aborted_error(("lost " + std::to_string(run)).c_str());
    return {};
  };
  callback asked = callback::none;
  SUBCASE("asked for in each try") { asked = callback::before_run; }
  SUBCASE("asked for when there is an error already") { asked = callback::on_error; }
  struct listener {
    lines* told;
    void on_error(tautline::error const& happened) const { told->push_back(written(happened.message)); }
  };
  auto session = monitored(backend{of}, named<"a">(probe{&of, "a", [&](callback where, life& at) {
                             if (where == asked) at.request_stop(copied{words.c_str()});
                           }}),
                           listener{&told});
  auto const done = session.run_to_completion();
  std::string const kept = written(done.stop.reason);
  CHECK(kept.size() > 30);
  CHECK(words.starts_with(kept));
  CHECK(joined(told) == joined({"lost 1", "lost 2", "lost 3", "lost 4", "lost 5"}));
  CHECK(of.sessions == 6);
}

TEST_CASE("braces in a reason without numbers are meant as they stand") {
  world of;
  auto session = monitored(backend{of}, probe{&of, "a"});
  session.request_stop("a set {} is empty");
  CHECK(written(session.stop().reason) == "a set {} is empty");
}

// --- from outside ----------------------------------------------------------------------------------------------------

TEST_CASE("the caller's stop has the number of completed steps") {
  world of;
  auto session = monitored(backend{of}, probe{&of, "a"});
  (void)session.run_steps(2);
  session.request_stop("enough");
  CHECK(described(session.stop()) == "stop by caller at 2: enough");
  CHECK(session.stop().source == stop_source::caller);
}

TEST_CASE("another thread stops a loop that runs") {
  std::atomic<long> runs = 0;
  world of;
  of.in_run = [&](long run) -> tautline::status {
    of.trace.clear();
    runs = run;
    return {};
  };
  lines seen;
  auto session = monitored(backend{of}, probe{&of, "a", [&](callback where, life& at) {
                             if (where == callback::after_run && at.stop_requested()) seen.push_back("stopping");
                           }});
  std::thread other([&] {
    while (runs < 100) std::this_thread::yield();
    session.request_stop({"after {} runs", 100});
  });
  auto const done = session.run_to_completion(target<"train">);
  other.join();
  CHECK(done.steps >= 100);
  CHECK(done.steps == of.runs);
  CHECK(done.stop.source == stop_source::caller);
  CHECK(written(done.stop.reason) == "after 100 runs");
  CHECK(done.stop.step == done.steps);
  CHECK(seen.size() <= 1);
}

TEST_CASE("of two threads that ask at once one is recorded, whole") {
  for (int round = 0; round < 50; ++round) {
    world of;
    auto session = monitored(backend{of}, probe{&of, "a"});
    std::atomic<int> ready = 0;
    auto const ask = [&](bool first) {
      ++ready;
      while (ready < 2) {}
      if (first) {
        session.request_stop({"first {} {}", 1, 1});
      } else {
        session.request_stop({"second {} {}", 2, 2});
      }
    };
    std::thread one(ask, true);
    std::thread two(ask, false);
    one.join();
    two.join();
    std::string const reason = written(session.stop().reason);
    CHECK((reason == "first 1 1" || reason == "second 2 2"));
  }
}

}  // namespace
