// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <limits>

#include <doctest/doctest.h>

#include <tautline/core/state.hpp>
#include <tautline/io/trace_file.hpp>

#include "file_support.hpp"

using namespace file_support;
using tautline::trace_arg;
using tautline::trace_file;
using tautline::trace_track;

// That Perfetto reads it is shown by tests/readers/perfetto.py; here is what it cannot tell.

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr char head[] = "[\n{\"ph\":\"M\",\"pid\":7,\"tid\":7,\"name\":\"process_name\",\"args\":{\"name\":\"test\"}}";

static_assert(tautline::stateless<trace_file>);
static_assert(std::is_nothrow_move_constructible_v<trace_file>);

/// The events that `body` writes, without those of every file.
template <class Body>
std::string written(Body body, tautline::trace_options how = {}) {
  folder const in;
  how.process = "test", how.process_id = 7;
  {
    trace_file trace(in / "t.json", how);
    body(trace);
  }
  std::string const text = contents(in / "t.json");
  REQUIRE(text.starts_with(head));
  REQUIRE(text.ends_with("\n]\n"));
  return text.substr(sizeof head - 1, text.size() - sizeof head - 2);
}

}  // namespace

TEST_CASE("each kind of event is a line of its own") {
  CHECK(written([](trace_file&) {}).empty());
  CHECK(written([](trace_file& trace) {
          trace_track const track = trace.track("a \"b\"");
          trace.slice("s", "c", 1'234'567, 5, track, {{"n", -1}, {"b", true}, {"t", "x\n"}});
          trace.begin("b", "", 2'000, track);
          trace.end(3'000, track);
          trace.instant("i", "c", 4'001, {}, {{"u", std::numeric_limits<std::uint64_t>::max()}});
          trace.counter("k", 5'010, 0.5);
          trace.name_track({99}, "mine");
        }) ==
        ",\n{\"ph\":\"M\",\"pid\":7,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"a \\\"b\\\"\"}}"
        ",\n{\"ph\":\"M\",\"pid\":7,\"tid\":1,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":1}}"
        ",\n{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"name\":\"s\",\"cat\":\"c\",\"ts\":1234.567,\"dur\":0.005,"
        "\"args\":{\"n\":-1,\"b\":true,\"t\":\"x\\n\"}}"
        ",\n{\"ph\":\"B\",\"pid\":7,\"tid\":1,\"name\":\"b\",\"ts\":2.000}"
        ",\n{\"ph\":\"E\",\"pid\":7,\"tid\":1,\"ts\":3.000}"
        ",\n{\"ph\":\"i\",\"pid\":7,\"tid\":7,\"name\":\"i\",\"cat\":\"c\",\"s\":\"t\",\"ts\":4.001,\"args\":{\"u\":18446744073709551615}}"
        ",\n{\"ph\":\"C\",\"pid\":7,\"tid\":7,\"name\":\"k\",\"ts\":5.010,\"args\":{\"value\":0.5}}"
        ",\n{\"ph\":\"M\",\"pid\":7,\"tid\":99,\"name\":\"thread_name\",\"args\":{\"name\":\"mine\"}}"
        ",\n{\"ph\":\"M\",\"pid\":7,\"tid\":99,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":99}}");
}

TEST_CASE("what is not finite is text as an argument, and left out of a counter") {
  std::string const text = written([](trace_file& trace) {
    trace.slice("s", "", 0, 0, {}, {{"a", not_a_number}, {"b", -infinity}, {"c", std::numeric_limits<float>::infinity()}, {"d", 0.1F}});
    trace.counter("k", 1, not_a_number);
    trace.counter("k", 2, {{"a", not_a_number}, {"b", std::numeric_limits<float>::quiet_NaN()}, {"c", 1}, {"text", "x"}});
  });
  CHECK(text ==
        ",\n{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"name\":\"s\",\"ts\":0.000,\"dur\":0.000,\"args\":{\"a\":\"NaN\",\"b\":\"-Infinity\","
        "\"c\":\"Infinity\",\"d\":0.1}}"
        ",\n{\"ph\":\"C\",\"pid\":7,\"tid\":7,\"name\":\"k\",\"ts\":0.002,\"args\":{\"c\":1}}");
}

TEST_CASE("ticks of any length become microseconds") {
  auto const time = [](std::uint64_t ticks, std::uint64_t per_second) {
    std::string const text = written([&](trace_file& trace) { trace.begin("", "", ticks); }, {.ticks_per_second = per_second});
    std::size_t const at = text.find("\"ts\":") + 5;
    return text.substr(at, text.find('}', at) - at);
  };
  CHECK(time(1, 1) == "1000000.000");
  CHECK(time(1'500, 1'000) == "1500000.000");
  CHECK(time(7, 3'000'000) == "2.333");
  CHECK(time(18'000'000'000'000'000'000U, 3'000'000'000) == "6000000000000000.000");
  CHECK(time(123'456'789'012'345, 1'000'000'000) == "123456789012.345");
}

TEST_CASE("it is flushed after so many events, and when asked") {
  folder const in;
  trace_file trace(in / "t.json", {.flush_events = 3, .flush_seconds = 1});
  auto const lines = [&] {
    std::string const text = contents(in / "t.json");
    return std::count(text.begin(), text.end(), '\n') - 1;  // the first is that of the process
  };
  constexpr std::uint64_t second = 1'000'000'000;
  trace.begin("a", "", 10 * second), trace.end(10 * second + 1);
  CHECK(lines() == 0);
  trace.begin("a", "", 10 * second + 2);
  CHECK(lines() == 3);
  trace.slice("b", "", 10 * second + 3, 5);
  CHECK(lines() == 3);
  trace.flush();
  CHECK(lines() == 4);
}

TEST_CASE("it is flushed when the times of the events say that enough has passed") {
  folder const in;
  trace_file trace(in / "t.json", {.ticks_per_second = 1000, .flush_events = 100, .flush_seconds = 2});
  auto const lines = [&] {
    std::string const text = contents(in / "t.json");
    return std::count(text.begin(), text.end(), '\n') - 1;
  };
  trace.slice("b", "", 10'000, 5);
  trace.slice("b", "", 12'000, 4);
  CHECK(lines() == 0);
  trace.slice("b", "", 11'000, 1'005);  // its end is two seconds behind that of the first one in the buffer
  CHECK(lines() == 3);
  trace.begin("c", "", 20'000);
  trace.end(10);  // a clock that goes back is none of our concern
  trace.begin("c", "", 21'999);
  CHECK(lines() == 3);
  trace.end(22'000);
  CHECK(lines() == 7);
}

TEST_CASE("a file is never overwritten") {
  folder const in;
  for (char const* name : {"t.json", "t-2.json", "t-3.json"}) {
    trace_file trace(in / "t.json");
    CHECK(trace.path() == in / name);
  }
  (void)trace_file(in / ".hidden");
  CHECK(trace_file(in / ".hidden").path() == in / ".hidden-2");
  (void)trace_file(in / "plain");
  CHECK(trace_file(in / "plain").path() == in / "plain-2");
  std::filesystem::create_directory(in / "x.y");
  (void)trace_file(in / "x.y/t");
  CHECK(trace_file(in / "x.y/t").path() == in / "x.y/t-2");
}

TEST_CASE("after close, and where nothing can be written, events are errors that name the file") {
  folder const in;
  CHECK(contains(problem_of_making<trace_file>(in / "none/t.json"), "cannot make " + (in / "none/t.json") + ": No such file"));
  trace_file trace(in / "t.json", {.flush_events = 1});
  trace.close();
  trace.close();
  std::string const closed = contents(in / "t.json");
  CHECK(contains(problem_of(trace, [](auto& file) { file.begin("a", "", 1); }), "cannot write " + (in / "t.json")));
  CHECK(trace.dropped() == 1);
  CHECK(contents(in / "t.json") == closed);
  trace_file gone(in / "gone.json", {.flush_events = 1});
  std::filesystem::remove(in / "gone.json");
  CHECK(contains(problem_of(gone, [](auto& file) { file.begin("a", "", 1); }), (in / "gone.json") + ": No such file"));
  CHECK(gone.dropped() == 0);
  CHECK_FALSE(problem_of(gone, [](auto& file) { file.begin("a", "", 1); }).empty());
  CHECK(gone.dropped() == 1);
}

TEST_CASE("a moved trace goes on, and is closed once") {
  folder const in;
  {
    trace_file first(in / "t.json");
    first.begin("a", "", 1);
    trace_file second(std::move(first));
    second.end(2);
  }
  std::string const text = contents(in / "t.json");
  CHECK(contains(text, "\"ph\":\"B\""));
  CHECK(text.ends_with("\"ts\":0.002}\n]\n"));
}
