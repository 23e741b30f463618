// SPDX-License-Identifier: BSL-1.0
#include <atomic>
#include <stdexcept>

#include <tautline/training/coordinator.hpp>

#include "../core/training.hpp"

// Threads that work beside a training, and what ties them to it.

namespace {

using namespace training;
using namespace std::chrono_literals;
using tautline::coordinated;
using tautline::coordinator;
using tautline::with_coordinator;

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

/// Steps until something else ends the training; bounded, so that a test that fails comes to an end.
struct slow_steps {
  void after_run(auto& ctx) const {
    std::this_thread::sleep_for(1ms);
    if (ctx.step() >= 60'000) ctx.fail(error_kind::error, "nobody has stopped this training");
  }
};

TEST_CASE("threads run until they are asked to stop, with a token and without") {
  std::atomic<int> rounds{0};
  std::atomic<bool> ended{false};
  coordinator threads;
  threads.spawn("with a token", [&](std::stop_token stop) {
    while (!stop.stop_requested()) ++rounds, std::this_thread::sleep_for(1ms);
    ended = true;
  });
  threads.spawn("short", [&] { ++rounds; });
  while (rounds < 3) std::this_thread::sleep_for(1ms);
  CHECK_FALSE(threads.should_stop());
  CHECK_FALSE(ended);
  CHECK(threads.running() >= 1);
  threads.join();
  CHECK(ended);
  CHECK(threads.should_stop());
  CHECK(threads.running() == 0);
}

TEST_CASE("a loop is called at once, then by its period, and is woken by a stop") {
  std::atomic<int> often{0}, seldom{0};
  coordinator threads;
  auto const start = std::chrono::steady_clock::now();
  threads.spawn_every("often", 5ms, [&] { ++often; });
  threads.spawn_every("seldom", 1h, [&] { ++seldom; });
  while (often < 3 || seldom < 1) std::this_thread::sleep_for(1ms);
  CHECK(std::chrono::steady_clock::now() - start >= 10ms);
  threads.join();
  CHECK(std::chrono::steady_clock::now() - start < 60s);
  CHECK(seldom == 1);
}

TEST_CASE("a stop can be waited for") {
  coordinator threads;
  CHECK_FALSE(threads.wait_for_stop(1ms));
  threads.spawn("asks", [&] { threads.request_stop(); });
  CHECK(threads.wait_for_stop(60s));
  CHECK(threads.token().stop_requested());
}

TEST_CASE("threads that do not end in time are named, and left alone") {
  auto const release = std::make_shared<std::atomic<bool>>(false);
  auto const gone = std::make_shared<std::atomic<int>>(0);
  auto const deaf = [=] {
    while (!*release) std::this_thread::sleep_for(1ms);
    ++*gone;
  };
  {
    coordinator threads(20ms);
    threads.spawn("input", deaf);
    threads.spawn("short", [] {});
    threads.spawn("watch", deaf);
    while (threads.running() > 2) std::this_thread::sleep_for(1ms);  // the short one may be late
    threads.request_stop();
    CHECK(threads.wait_for_threads() == "input, watch");
    threads.spawn("late", deaf);
  }  // the destructor does not wait for ever either
  *release = true;
  for (int i = 0; i < 60'000 && *gone < 3; ++i) std::this_thread::sleep_for(1ms);
  CHECK(*gone == 3);
}

TEST_CASE("after clear_stop it is as new") {
  std::atomic<int> rounds{0};
  coordinator threads;
  threads.spawn("first", [&](std::stop_token stop) { while (!stop.stop_requested()) std::this_thread::sleep_for(1ms); });
  threads.join();
  threads.clear_stop();
  CHECK_FALSE(threads.should_stop());
  threads.spawn("second", [&](std::stop_token stop) { while (!stop.stop_requested()) ++rounds, std::this_thread::sleep_for(1ms); });
  while (rounds < 2) std::this_thread::sleep_for(1ms);
  threads.join();
}

// --- with a session ---------------------------------------------------------------------------------------------------

TEST_CASE("a thread ends the training, in the coordinator's name") {
  coordinator threads;
  auto session = monitored(summing(10'000'000), coordinated{threads}, slow_steps{});
  threads.spawn("asks", [&] {
    std::this_thread::sleep_for(10ms);
    threads.request_stop();
  });
  auto const done = session.run_to_completion(target<"train">);
  CHECK(written(done.stop.reason) == "the coordinator was asked to stop");
  CHECK(contains(done.stop.by, "coordinated"));
  CHECK(done.error == error_kind::none);
  session.close();
  CHECK(threads.running() == 0);
}

struct closes {
  lines* trace;
  std::atomic<bool>* ended;
  void close() { trace->push_back(*ended ? "close behind the thread" : "close before the thread"); }
};

TEST_CASE("the end of the training ends the threads, after all other hooks have closed") {
  lines trace;
  std::atomic<bool> ended{false};
  coordinator threads;
  auto session = monitored(summing(), coordinated{threads}, closes{&trace, &ended});
  threads.spawn("works", [&](std::stop_token stop) {
    while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
    ended = true;
  });
  (void)session.run_steps(3, target<"train">);
  CHECK_FALSE(ended);
  session.close();
  CHECK(ended);
  CHECK(joined(trace) == joined({"close before the thread"}));
}

TEST_CASE("a training whose coordinator was asked to stop before makes no step") {
  coordinator threads;
  threads.request_stop();
  auto session = monitored(summing(), coordinated{threads});
  (void)session.run_to_completion(target<"train">);
  CHECK(session.completed_steps() == 0);
}

TEST_CASE("the same coordinator serves another training") {
  coordinator threads;
  for (int i = 0; i < 2; ++i) {
    auto session = monitored(summing(), coordinated{threads});
    CHECK(session.run(target<"train">));
    session.close();
    threads.clear_stop();
  }
}

TEST_CASE("threads that do not end are named in the session's error") {
  auto const release = std::make_shared<std::atomic<bool>>(false);
  coordinator threads(20ms);
  auto session = monitored(summing(), coordinated{threads});
  threads.spawn("input", [=] { while (!*release) std::this_thread::sleep_for(1ms); });
  (void)session.run(target<"train">);
  CHECK(session.try_close().kind == error_kind::unavailable);
  CHECK(contains(written(session.status()), "threads that did not stop in time: input"));
  *release = true;
}

struct spawns {
  coordinator* expected;
  int told = 0;
  void after_create_session(auto&, coordinator& threads) {
    CHECK(&threads == expected);
    ++told;
  }
};
struct spawns_with_life {
  coordinator* expected;
  int told = 0;
  void after_create_session(auto& session, coordinator& threads, life& at) {
    CHECK(&threads == expected);
    CHECK(at.step() == session.step());
    ++told;
  }
};
struct looks_only {
  int told = 0;
  void after_create_session(auto&, life&) { ++told; }
};
/// Whatever the second parameter could be: it is a life, as everywhere.
struct takes_anything {
  int told = 0;
  void after_create_session(auto& session, auto& at) {
    static_assert(std::is_base_of_v<life, std::remove_reference_t<decltype(at)>>);
    CHECK(at.step() == session.step());
    ++told;
  }
};
TEST_CASE("hooks get the coordinator where the session has one") {
  coordinator threads;
  auto session = monitored(summing(), options{with_coordinator{threads}}, spawns{&threads}, spawns_with_life{&threads}, looks_only{},
                           takes_anything{});
  CHECK(session.hook<spawns>().told == 1);
  CHECK(session.hook<spawns_with_life>().told == 1);
  CHECK(session.hook<looks_only>().told == 1);
  CHECK(session.hook<takes_anything>().told == 1);
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("the first exception is kept, and ends all; join throws it once") {
  coordinator threads;
  threads.spawn("first", [] { throw std::runtime_error("of the first"); });
  CHECK(threads.wait_for_stop(60s));
  threads.spawn("second", [] { throw std::runtime_error("of the second"); });
  CHECK(threads.wait_for_threads().empty());
  CHECK(threads.failure() != nullptr);
  CHECK_THROWS_WITH_AS(threads.join(), "of the first", std::runtime_error);
  threads.join();
}

TEST_CASE("what was reported by hand counts like what was thrown") {
  coordinator threads;
  threads.request_stop(std::make_exception_ptr(std::runtime_error("by hand")));
  threads.request_stop(std::make_exception_ptr(std::runtime_error("too late")));
  CHECK(threads.should_stop());
  CHECK_THROWS_WITH_AS(threads.join(), "by hand", std::runtime_error);
}

TEST_CASE("join names the threads that do not end") {
  auto const release = std::make_shared<std::atomic<bool>>(false);
  coordinator threads(20ms);
  threads.spawn("input", [=] { while (!*release) std::this_thread::sleep_for(1ms); });
  CHECK_THROWS_WITH_AS(threads.join(), "threads that did not stop in time: input", tautline::unavailable_error);
  *release = true;
}

TEST_CASE("a thread that fails ends the training, with its exception out of close") {
  coordinator threads;
  auto session = monitored(summing(10'000'000), coordinated{threads}, slow_steps{});
  threads.spawn("fails", [] { throw std::runtime_error("no more input"); });
  (void)session.run_to_completion(target<"train">);
  CHECK_THROWS_WITH_AS(session.close(), "no more input", std::runtime_error);
  CHECK(contains(session.status().hook, "coordinated"));
}

struct throws_in_step {
  std::atomic<bool>* entered;
  std::atomic<bool>* go;
  void after_run(auto&) const {
    *entered = true;
    while (!*go) std::this_thread::sleep_for(1ms);
    throw std::logic_error("of the training");
  }
};
TEST_CASE("of a training that fails the threads end, too; their exception is attached") {
  std::atomic<bool> entered{false}, go{false};
  coordinator threads;
  auto session = monitored(summing(), coordinated{threads}, throws_in_step{&entered, &go});
  threads.spawn("fails", [&] {
    while (!entered) std::this_thread::sleep_for(1ms);  // else its stop would come before the step
    go = true;
    throw std::runtime_error("of the thread");
  });
  CHECK_THROWS_WITH_AS((void)session.run_to_completion(target<"train">), "of the training", std::logic_error);
  REQUIRE(session.attached_errors().size() == 1);
  CHECK(contains(written(session.attached_errors()[0]), "of the thread"));
  CHECK(threads.running() == 0);
}
#endif

}  // namespace
