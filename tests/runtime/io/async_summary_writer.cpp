// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tautline/io/async_summary_writer.hpp>

using namespace tautline;
using namespace std::chrono_literals;

namespace {

struct memory_writer {
  std::vector<std::string> lines;
  std::thread::id thread;
  int flushes = 0;
  void add_scalar(std::string_view tag, double value, step_number step) {
    lines.push_back(std::string(tag) + " " + std::to_string(static_cast<long>(value)) + " " + std::to_string(step));
    thread = std::this_thread::get_id();
  }
  void flush() { ++flushes; }
};
struct timed_writer : memory_writer {
  double time = 0;
  using memory_writer::add_scalar;
  void add_scalar(std::string_view tag, double value, step_number step, double wall_time) {
    memory_writer::add_scalar(tag, value, step);
    time = wall_time;
  }
};
double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

static_assert(summary_writer<async_summary_writer<memory_writer>>);

}  // namespace

TEST_CASE("numbers reach the inner writer in order, on another thread") {
  memory_writer inner;
  async_summary_writer out(inner);
  for (int i = 0; i < 100; ++i) {
    out.add_scalar("loss", i, i);
    out.add_scalar("rate", -i, i);
  }
  CHECK(out.flush(20s));
  CHECK(inner.lines.size() == 200);
  CHECK(inner.lines[0] == "loss 0 0");
  CHECK(inner.lines[199] == "rate -99 99");
  CHECK(inner.flushes == 1);
  CHECK(inner.thread != std::this_thread::get_id());
  CHECK(out.join(20s));
  CHECK(inner.flushes == 2);
}

TEST_CASE("a tag may be made anew each time, in the same memory") {
  memory_writer inner;
  async_summary_writer out(inner);
  std::string tag = "layer/0";
  for (char layer = '0'; layer < '8'; ++layer) {
    tag.back() = layer;
    out.add_scalar(tag, 1, 1);
  }
  tag.assign(7, '?');
  CHECK(out.join(20s));
  CHECK(inner.lines.size() == 8);
  CHECK(inner.lines[0] == "layer/0 1 1");
  CHECK(inner.lines[7] == "layer/7 1 1");
}

TEST_CASE("tags for which there is no room are dropped and counted; known ones go on") {
  memory_writer inner;
  async_summary_writer out(inner, {.tags = 2, .tag_bytes = 16});
  out.intern("a");
  CHECK(out.try_add_scalar("a", 1, 1) == pushed::taken);
  CHECK(out.try_add_scalar("a tag of twenty char", 1, 1) == pushed::full);
  CHECK(out.try_add_scalar("b", 1, 1) == pushed::taken);
  CHECK(out.try_add_scalar("c", 1, 1) == pushed::full);
  CHECK(out.try_add_scalar("a", 2, 2) == pushed::taken);
  CHECK(out.dropped() == 2);
  background_report const how = out.join(20s);
  CHECK_FALSE(how);
  CHECK(how.dropped == 2);
  CHECK(how.lost == 0);
  CHECK(inner.lines == std::vector<std::string>{"a 1 1", "b 1 1", "a 2 2"});
}

TEST_CASE("a writer that takes the time gets that of the call") {
  timed_writer inner;
  async_summary_writer out(inner, {.background = {.poll = 20ms}});
  double const before = now();
  out.add_scalar("loss", 1, 1);
  double const after = now();
  CHECK(out.join(20s));
  CHECK(inner.time >= before);
  CHECK(inner.time <= after);
}

TEST_CASE("a share of a writer, and the destructor writes what is left") {
  auto const inner = std::make_shared<memory_writer>();
  {
    async_summary_writer out(inner);
    out.add_scalar("loss", 1, 1);
  }
  CHECK(inner->lines.size() == 1);
  CHECK(inner.use_count() == 1);
}

TEST_CASE("numbers that are not finite pass unchanged") {
  struct kept {
    double value = 0;
    void add_scalar(std::string_view, double given, step_number) { value = given; }
  } inner;
  async_summary_writer out(inner);
  out.add_scalar("loss", std::nan(""), 1);
  CHECK(out.join(20s));
  CHECK(std::isnan(inner.value));
}

TEST_CASE("a restart is marked in its place, after what was added before") {
  struct marking : memory_writer {
    void mark_restart(step_number completed) { lines.push_back("restart " + std::to_string(completed)); }
  } inner;
  async_summary_writer out(inner, {.background = {.poll = 5ms}});
  for (int i = 1; i <= 20; ++i) out.add_scalar("loss", i, i);
  out.mark_restart(7);
  CHECK(inner.lines.size() == 21);
  CHECK(inner.lines.back() == "restart 7");
  CHECK(out.flush());
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("an error of the inner writer comes up at the next call, as it was") {
  struct bad {
    void add_scalar(std::string_view, double, step_number) { throw std::domain_error("the disk is full"); }
  } inner;
  async_summary_writer out(inner);
  out.add_scalar("loss", 1, 1);
  CHECK_FALSE(out.flush(20s));
  CHECK_THROWS_AS(out.add_scalar("loss", 1, 2), std::domain_error);
  CHECK_THROWS_AS(out.add_scalar("loss", 1, 3), std::domain_error);
  CHECK(out.try_add_scalar("loss", 1, 4) == pushed::failed);
  CHECK(std::string(out.failure().message.words()) == "the disk is full");
  CHECK(out.join(20s).lost >= 1);
}
#endif
