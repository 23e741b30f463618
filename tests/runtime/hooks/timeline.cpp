// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include <tautline/hooks/any_trigger.hpp>
#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/hooks/timeline.hpp>

#include "../io/file_support.hpp"
#include "listed_graph.hpp"
#include "memory_store.hpp"
#include "support.hpp"

using namespace support;
using namespace tautline;
using file_support::contents;
using file_support::folder;
using support::target;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Each reading is a microsecond later.
struct ticking {
  std::uint64_t* ticks;
  [[nodiscard]] std::uint64_t now() const { return ++*ticks; }
  static constexpr std::uint64_t ticks_per_second() { return 1'000'000; }
};

struct event {
  char phase = 0;
  std::string name, category, rest;
  double begin = 0, end = 0;
  long step = -1;
};

std::string part(std::string const& line, std::string const& key) {
  std::size_t const at = line.find(key);
  if (at == std::string::npos) return "";
  std::size_t const begin = at + key.size();
  std::size_t end = begin;
  while (end < line.size() && !(line[end] == '"' && line[end - 1] != '\\')) ++end;
  return line.substr(begin, end - begin);
}
double number_in(std::string const& line, std::string const& key) {
  std::size_t const at = line.find(key);
  return at == std::string::npos ? -1 : std::atof(line.c_str() + at + key.size());
}

/// The slices and the moments of a trace, as they stand in it.
std::vector<event> events_of(std::string const& path) {
  std::vector<event> all;
  std::istringstream text(contents(path));
  for (std::string line; std::getline(text, line);) {
    event found;
    std::string const phase = part(line, "\"ph\":\"");
    if (phase != "X" && phase != "i") continue;
    found.phase = phase[0];
    found.name = part(line, "\"name\":\"");
    found.category = part(line, "\"cat\":\"");
    found.begin = number_in(line, "\"ts\":");
    found.end = found.begin + std::max(0.0, number_in(line, "\"dur\":"));
    found.step = static_cast<long>(number_in(line, "\"step\":"));
    found.rest = line;
    all.push_back(found);
  }
  return all;
}
std::vector<event> chosen(std::vector<event> const& all, std::string const& name) {
  std::vector<event> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found), [&](event const& each) { return each.name == name; });
  return found;
}
std::string steps_of(std::vector<event> const& all) {
  std::string text;
  for (event const& each : chosen(all, "step")) text += std::to_string(each.step) + (contains(each.rest, "\"finished\":true") ? " " : "! ");
  return text;
}

/// No two slices overlap without one being within the other.
bool nests(std::vector<event> const& all) {
  for (event const& one : all) {
    for (event const& other : all) {
      if (&one == &other || one.phase != 'X' || other.phase != 'X') continue;
      if (one.begin < other.begin && other.begin < one.end && one.end < other.end) return false;
    }
  }
  return true;
}
bool within_a_step(event const& one, std::vector<event> const& all) {
  for (event const& step : chosen(all, "step")) {
    if (step.step == one.step && step.begin <= one.begin && one.end <= step.end) return true;
  }
  return false;
}

auto traced(std::string const& path, auto trigger, std::uint64_t& ticks) { return timeline<>::with(path, trigger, ticking{&ticks}); }

struct acts {
  std::function<void(callback where, life& at)> act;
  void before_run(auto& ctx) { act(callback::before_run, ctx); }
  void after_run(auto& ctx) { act(callback::after_run, ctx); }
};

}  // namespace

TEST_CASE("every callback of a step stands in it, and all slices nest") {
  folder const in;
  std::uint64_t ticks = 100;
  memory_store store;
  {
    auto session = monitored(listed_graph(counted(3)), memory_saver{&store, every_steps{2}}, nan_checker<"loss">{}, stop_at_step{3},
                             traced(in / "a.json", every_steps{}, ticks));
    (void)session.run_to_completion(target<"train">);
  }
  auto const all = events_of(in / "a.json");
  CHECK(steps_of(all) == "1 2 3 ");
  CHECK(nests(all));
  CHECK(chosen(all, "nan_checker<\\\"loss\\\">").size() == 3 * 3);  // before_run, gate, after_run
  CHECK(chosen(all, "run").size() == 2 * 3);                  // staged, then committed
  int saves = 0;
  for (event const& each : all) {
    bool const of_step = each.category == "before_run" || each.category == "run" || each.category == "gate" ||
                         each.category == "after_run" || each.category == "save";
    if (of_step) CHECK_MESSAGE(within_a_step(each, all), each.rest);
    if (each.category == "save") ++saves;
  }
  CHECK(saves == 1);
  for (event const& step : chosen(all, "step")) CHECK(contains(step.rest, "\"vetoed\":false"));
  CHECK(chosen(all, "session").size() == 1);
  CHECK(chosen(all, "create_session").size() == 1);
  CHECK(contains(contents(in / "a.json"), "\n]\n"));
}

TEST_CASE("steps are recorded when they are due, and only then") {
  folder const in;
  std::uint64_t ticks = 0;
  {
    auto session = monitored(listed_graph(counted(7)), nan_checker<"loss">{}, traced(in / "a.json", every_steps{3}, ticks));
    (void)session.run_to_completion(target<"train">);
  }
  auto const all = events_of(in / "a.json");
  CHECK(steps_of(all) == "3 6 ");
  for (event const& each : all) {
    if (each.category == "run" || each.category == "gate") CHECK(each.step % 3 == 0);
  }
  {
    auto session = monitored(listed_graph(counted(4)), timeline{in / "b.json", at_steps{2}});
    (void)session.run_to_completion(target<"train">);
  }
  CHECK(steps_of(events_of(in / "b.json")) == "2 ");
}

TEST_CASE("runs that it does not see belong to no step") {
  folder const in;
  std::uint64_t ticks = 0;
  {
    auto session = monitored(listed_graph(counted(9)), traced(in / "a.json", every_steps{2}, ticks));
    (void)session.run_steps(2, target<"train">);
    (void)session.run_without_hooks(target<"train">);
    (void)session.run_steps(2, target<"train">);
  }
  auto const all = events_of(in / "a.json");
  CHECK(steps_of(all) == "2 4 ");
  CHECK(chosen(all, "run").size() == 2);
  CHECK(nests(all));
}

TEST_CASE("a vetoed step says so") {
  folder const in;
  std::uint64_t ticks = 0;
  {
    auto session = monitored(listed_graph({1, nan, 3}), nan_checker<"loss">::with(skip_at_most{1}), traced(in / "a.json", every_steps{}, ticks));
    (void)session.run_to_completion(target<"train">);
  }
  auto const steps = chosen(events_of(in / "a.json"), "step");
  REQUIRE(steps.size() == 4);  // the last one met the end of the input
  CHECK(contains(steps[0].rest, "\"vetoed\":false"));
  CHECK(contains(steps[1].rest, "\"vetoed\":true"));
  CHECK(contains(steps[2].rest, "\"vetoed\":false"));
}

TEST_CASE("errors and sessions are marked, and the step that failed is there") {
  folder const in;
  std::uint64_t ticks = 0;
  world of;
  of.in_run = broken_in(3);
  of.input_length = 6;
  {
    auto session = monitored(scripted(of), traced(in / "a.json", every_steps{}, ticks), stop_at_step{3},
                             acts{[](callback where, life& at) {
                               if (where == callback::after_run && at.step() == 2) at.fail(error_kind::internal, "enough of \"it\"");
                             }});
    (void)session.try_run();
    of.in_run = broken_in(2);
    (void)session.try_run_to_completion();
    CHECK(session.status().kind == error_kind::internal);
  }
  auto const all = events_of(in / "a.json");
  CHECK(nests(all));
  CHECK(chosen(all, "session").size() == 2);
  auto const errors = chosen(all, "error");
  REQUIRE(errors.size() == 2);
  CHECK(contains(errors[0].rest, "broken"));
  CHECK(contains(errors[1].rest, "enough of \\\"it\\\""));
  CHECK(steps_of(all) == "1 2! 1 2! ");  // the session starts where the backend says: at 0
}

TEST_CASE("a training that is resumed writes another file") {
  folder const in;
  memory_store store;
  for (int i = 0; i < 2; ++i) {
    std::uint64_t ticks = 0;
    auto session = monitored(listed_graph(counted(9)), options{restore_from{store}}, memory_saver{&store, every_steps{2}},
                             traced(in / "a.json", every_steps{}, ticks));
    (void)session.run_steps(3, target<"train">);
    session.abandon();
  }
  CHECK(steps_of(events_of(in / "a.json")) == "1 2 3 ");
  CHECK(steps_of(events_of(in / "a-2.json")) == "3 4 5 ");
}

TEST_CASE("several of them, each with its own trigger") {
  folder const in;
  std::uint64_t ticks = 0;
  {
    auto session = monitored(listed_graph(counted(4)), traced(in / "a.json", every_steps{}, ticks),
                             named<"other">(traced(in / "b.json", every_steps{2}, ticks)));
    (void)session.run_to_completion(target<"train">);
  }
  CHECK(steps_of(events_of(in / "a.json")) == "1 2 3 4 5! ");
  CHECK(steps_of(events_of(in / "b.json")) == "2 4 ");
  CHECK(nests(events_of(in / "a.json")));
  CHECK(nests(events_of(in / "b.json")));
}

TEST_CASE("what goes wrong with the file is an error of the hook, also where it may not throw") {
  folder const in;
  file_support::put(in / "file", "");
  std::string const said = file_support::thrown_by([&] {
    auto session = try_monitored(listed_graph(counted(2)), timeline{in / "file/a.json"});
    if (!TAUTLINE_EXCEPTIONS) CHECK(session.status().where == callback::after_create_session);
  });
  if (TAUTLINE_EXCEPTIONS) CHECK(contains(said, "cannot make"));
  // a second for each reading: every event is written at once
  struct slow {
    std::uint64_t* seconds;
    [[nodiscard]] std::uint64_t now() const { return 10 * ++*seconds; }
    static constexpr std::uint64_t ticks_per_second() { return 1; }
  };
  std::uint64_t seconds = 0;
  auto session = try_monitored(listed_graph(counted(9)), timeline<>::with(in / "a.json", every_steps{}, slow{&seconds}),
                               acts{[&](callback where, life& at) {
                                 if (where == callback::before_run && at.step() == 3) std::filesystem::remove(in / "a.json");
                               }});
  CHECK(session.try_run_to_completion(target<"train">).error == error_kind::error);
  CHECK(session.status().step == 3);
  CHECK(contains(session.status().hook, "timeline"));
  CHECK(contains(written(session.status().message), "cannot write"));
}

TEST_CASE("a trigger that needs a clock, in a session that has none") {
  folder const in;
  auto session = try_monitored(listed_graph(counted(2)), timeline<any_trigger>{in / "a.json", every_seconds{1}});
  CHECK(session.status().kind == error_kind::invalid_argument);
}
