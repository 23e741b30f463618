// SPDX-License-Identifier: BSL-1.0
#include <string>
#include <thread>

#include "training.hpp"

// What stands outside of a session and reaches into it: stops from other threads, coordinators, threads that must not wait.

namespace {

using namespace training;
using tautline::stop_handle;
using tautline::with_coordinator;

/// Asks for a stop from a thread of its own.
struct threaded {
  stop_handle stop;
  std::thread worker;
  void after_create_session(auto&, life& at) {
    stop = at.handle();
    worker = std::thread([this] { stop.request_stop("the button"); });
  }
  void close() {
    stop = {};
    if (worker.joinable()) worker.join();
  }
};

TEST_CASE("a handle asks for a stop from another thread, in the name of its hook") {
  auto session = monitored(summing(1'000'000'000), named<"button">(threaded{}));
  (void)session.run_to_completion(target<"train">);
  CHECK(session.should_stop());
  CHECK(std::string(session.stop().by) == "button");
  CHECK(session.stop().source == tautline::stop_source::hook);
  CHECK(written(session.stop().reason) == "the button");
  CHECK(session.stop().step == session.completed_steps());
  session.close();
}

struct keeps_handle {
  stop_handle stop;
  void after_create_session(auto&, life& at) { stop = at.handle(); }
};
TEST_CASE("of many requests at once the recorded one is whole") {
  for (int round = 0; round < 50; ++round) {
    auto session = monitored(summing(), named<"a">(keeps_handle{}), named<"b">(keeps_handle{}));
    stop_handle const a = session.hook<"a">().stop;
    stop_handle const b = session.hook<"b">().stop;
    std::thread first([a] { a.request_stop("of a"); });
    std::thread second([b] { b.request_stop("of b"); });
    first.join();
    second.join();
    REQUIRE(session.should_stop());
    CHECK(written(session.stop().reason) == std::string("of ") + session.stop().by);
  }
}

TEST_CASE("a handle knows whether a stop was asked for, and an empty one does nothing") {
  stop_handle const none;
  CHECK_FALSE(none);
  none.request_stop("nobody hears it");
  CHECK_FALSE(none.stop_requested());
  auto session = monitored(summing(), named<"a">(keeps_handle{}));
  stop_handle const a = session.hook<"a">().stop;
  CHECK(a);
  CHECK_FALSE(a.stop_requested());
  session.request_stop("the caller was first");
  CHECK(a.stop_requested());
  a.request_stop("too late");
  CHECK(std::string(session.stop().by) == "caller");
}

TEST_CASE("a handle's request before the first run is recorded with the completed steps") {
  auto session = monitored(summing(), options{tautline::initial_step{5}}, named<"a">(keeps_handle{}));
  session.hook<"a">().stop.request_stop("at once");
  (void)session.run_to_completion(target<"train">);
  CHECK(session.completed_steps() == 5);
  CHECK(session.stop().step == 5);
}

// --- coordinators -------------------------------------------------------------------------------------------------------

struct coordinator {
  lines told;
};
struct needs_coordinator {
  void after_create_session(auto& session, coordinator& with) { with.told.push_back("at " + number(session.step())); }
};
struct needs_both {
  void after_create_session(auto&, coordinator& with, life& at) { with.told.push_back("life at " + number(at.step())); }
};
struct needs_life {
  lines* told;
  void after_create_session(auto&, life& at) { told->push_back("only life at " + number(at.step())); }
};
struct needs_none {
  lines* told;
  void after_create_session(auto&) { told->push_back("nothing more"); }
};
struct generic {
  lines* told;
  void after_create_session(auto&, auto& at) { told->push_back("generic at " + number(at.step())); }
};

TEST_CASE("hooks that take the coordinator get it, the others are called as ever") {
  coordinator all;
  auto session = monitored(summing(), options{with_coordinator{all}, tautline::initial_step{3}}, needs_coordinator{}, needs_both{},
                           needs_life{&all.told}, needs_none{&all.told}, generic{&all.told});
  CHECK(joined(all.told) == joined({"at 3", "life at 3", "only life at 3", "nothing more", "generic at 3"}));
}

// --- real time ----------------------------------------------------------------------------------------------------------

struct quick {
  static constexpr bool real_time = true;
  float sum = 0;
  auto before_run(auto&) noexcept { return fetch<"loss">; }
  void gate(auto& ctx, auto& values) noexcept {
    if (values[fetch<"loss">] > 1e6F) ctx.veto();
  }
  void after_run(auto&, auto& values) noexcept { sum += values[fetch<"loss">]; }
};
/// What is not called in a step may do as it likes.
struct outside_of_steps {
  std::string words;
  void after_create_session(auto&) { words = "a text that is too long for a string's own bytes"; }
  void end(auto&) { words += "."; }
};

TEST_CASE("a session in real-time mode takes hooks that are quick, and those that do nothing in a step") {
  auto session = monitored(summing(), options{tautline::real_time{}}, quick{}, outside_of_steps{});
  (void)session.run_steps(3, target<"train">);
  CHECK(session.hook<quick>().sum == 0 + 1 + 3);
}

}  // namespace
