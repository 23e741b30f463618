// SPDX-License-Identifier: BSL-1.0
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <tautline/io/background_writer.hpp>

using namespace tautline;
using namespace std::chrono_literals;

namespace {

struct sample {
  long number;
  double value;
};

/// What a worker has taken, and the ways in which it can be a bad one.
struct diary {
  std::vector<long> taken;
  std::atomic<bool> stuck{false};
  std::atomic<bool> inside{false};
  std::thread::id thread;
};
struct keep {
  std::shared_ptr<diary> in;
  void operator()(sample const& record) const {
    in->inside = true;
    while (in->stuck) std::this_thread::sleep_for(100us);
    in->thread = std::this_thread::get_id();
    in->taken.push_back(record.number);
    in->inside = false;
  }
};
using keeping_writer = background_writer<sample, keep>;

template <class Condition>
bool soon(Condition condition) {
  auto const end = std::chrono::steady_clock::now() + 60s;
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(100us);
  return condition();
}

}  // namespace

TEST_CASE("records are written in order, by another thread, in both ways of waking") {
  for (waking const wake : {waking::polling, waking::signalled}) {
    auto const seen = std::make_shared<diary>();
    keeping_writer out(keep{seen}, {.capacity = 100, .wake = wake, .patience = 60s});
    for (long i = 0; i < 10000; ++i) CHECK(out.push({i, 0.5}) == pushed::taken);
    background_report const how = out.join(60s);
    CHECK(how);
    CHECK(how.written == 10000);
    REQUIRE(seen->taken.size() == 10000);
    bool ordered = true;
    for (long i = 0; i < 10000; ++i) ordered = ordered && seen->taken[static_cast<std::size_t>(i)] == i;
    CHECK(ordered);
    CHECK(seen->thread != std::this_thread::get_id());
  }
}

TEST_CASE("a full queue drops the newest and counts, without waiting") {
  auto const seen = std::make_shared<diary>();
  seen->stuck = true;
  keeping_writer out(keep{seen}, {.capacity = 8});
  CHECK(out.push({0, 0}) == pushed::taken);
  REQUIRE(soon([&] { return seen->inside.load(); }));
  int taken = 1;
  auto const start = std::chrono::steady_clock::now();
  while (out.push({taken, 0}) == pushed::taken) ++taken;
  CHECK(taken >= 8);
  CHECK(taken <= 32);
  CHECK(out.push({99, 0}) == pushed::full);
  CHECK(out.dropped() == 2);
  CHECK(std::chrono::steady_clock::now() - start < 60s);
  seen->stuck = false;
  background_report const how = out.join(60s);
  CHECK(how.finished);
  CHECK(how.written == static_cast<std::uint64_t>(taken));
  CHECK(how.dropped == 2);
  CHECK(how.lost == 0);
  CHECK_FALSE(how);
  CHECK(seen->taken.back() == taken - 1);
}

TEST_CASE("with patience a push waits for room, but no longer") {
  auto const seen = std::make_shared<diary>();
  seen->stuck = true;
  keeping_writer out(keep{seen}, {.capacity = 1, .patience = 30ms});
  CHECK(out.push({0, 0}) == pushed::taken);
  REQUIRE(soon([&] { return seen->inside.load(); }));
  while (out.push({1, 0}) == pushed::taken) {
  }
  auto const start = std::chrono::steady_clock::now();
  CHECK(out.push({2, 0}) == pushed::full);
  CHECK(std::chrono::steady_clock::now() - start >= 30ms);
  std::thread later([&] { std::this_thread::sleep_for(5ms), seen->stuck = false; });
  pushed then = pushed::full;
  while (then == pushed::full) then = out.push({3, 0});  // a machine may be slow
  CHECK(then == pushed::taken);
  later.join();
  CHECK(out.join(60s).finished);
  CHECK(seen->taken.back() == 3);
}

TEST_CASE("a status that is not ok ends the writing, is told to the producer, and is kept") {
  struct bad {
    status operator()(sample const& record) const {
      return record.number == 2 ? status{error_kind::unavailable, "the disk is full"} : status{};
    }
  };
  background_writer<sample, bad> out(bad{}, {.capacity = 8});
  for (long i = 0; i < 4; ++i) CHECK(out.push({i, 0}) == pushed::taken);
  REQUIRE(soon([&] { return out.failed(); }));
  CHECK(out.push({5, 0}) == pushed::failed);
  CHECK(out.failure().kind == error_kind::unavailable);
  CHECK(std::string(out.failure().message.words()) == "the disk is full");
  CHECK_FALSE(out.settle(60s));
  background_report const how = out.join(60s);
  CHECK(how.finished);
  CHECK(how.written == 2);
  CHECK(how.lost == 2);
  CHECK(how.dropped == 1);
  CHECK(out.push({6, 0}) == pushed::closed);
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("an exception of the worker is kept as it was") {
  struct bad {
    void operator()(sample const&) const { throw std::domain_error("no such place"); }
  };
  background_writer<sample, bad> out(bad{}, {.wake = waking::signalled});
  CHECK(out.push({1, 0}) == pushed::taken);
  CHECK_FALSE(out.settle(60s));
  error const why = out.failure();
  CHECK(why.kind == error_kind::error);
  CHECK_THROWS_AS(std::rethrow_exception(why.cause), std::domain_error);
  CHECK(std::string(why.message.words()) == "no such place");
}
#endif

TEST_CASE("a worker that is stuck is given up at the deadline, and touches nothing afterwards") {
  auto const seen = std::make_shared<diary>();
  seen->stuck = true;
  {
    keeping_writer out(keep{seen}, {.capacity = 8});
    for (long i = 0; i < 3; ++i) CHECK(out.push({i, 0}) == pushed::taken);
    REQUIRE(soon([&] { return seen->inside.load(); }));
    auto const start = std::chrono::steady_clock::now();
    background_report const how = out.join(20ms);
    CHECK(std::chrono::steady_clock::now() - start < 60s);
    CHECK_FALSE(how.finished);
    CHECK(how.lost == 3);
    CHECK(how.written == 0);
    CHECK_FALSE(out.join(1s).finished);  // once is all
  }
  seen->stuck = false;
  REQUIRE(soon([&] { return !seen->inside.load(); }));
  std::this_thread::sleep_for(5ms);
  CHECK(seen->taken == std::vector<long>{0});  // the one in hand
}

TEST_CASE("the destructor writes what is left, and does not hang") {
  auto const seen = std::make_shared<diary>();
  {
    keeping_writer out(keep{seen}, {.linger = 60s});
    for (long i = 0; i < 100; ++i) (void)out.push({i, 0});
  }
  CHECK(seen->taken.size() == 100);
  seen->stuck = true;
  auto const start = std::chrono::steady_clock::now();
  {
    keeping_writer out(keep{seen}, {.linger = 10ms});
    (void)out.push({1, 0});
    REQUIRE(soon([&] { return seen->inside.load(); }));
  }
  CHECK(std::chrono::steady_clock::now() - start < 60s);
  seen->stuck = false;
  CHECK(soon([&] { return !seen->inside.load(); }));
}

TEST_CASE("settled, the producer may look at what the worker did") {
  auto const seen = std::make_shared<diary>();
  keeping_writer out(keep{seen}, {.capacity = 64, .poll = 50ms});
  for (long round = 1; round <= 20; ++round) {
    for (long i = 0; i < 10; ++i) (void)out.push({i, 0});
    REQUIRE(out.settle(60s));
    CHECK(seen->taken.size() == static_cast<std::size_t>(round * 10));
    seen->taken.back() = -1;  // and may change it
  }
}

TEST_CASE("a moved writer goes on; one that is overwritten writes what it has") {
  auto const first = std::make_shared<diary>();
  auto const second = std::make_shared<diary>();
  keeping_writer out(keep{first}, {.linger = 60s});
  (void)out.push({1, 0});
  keeping_writer moved(std::move(out));
  (void)moved.push({2, 0});
  moved = keeping_writer(keep{second});
  CHECK(first->taken == std::vector<long>{1, 2});
  (void)moved.push({3, 0});
  CHECK(moved.join(60s));
  CHECK(second->taken == std::vector<long>{3});
}
