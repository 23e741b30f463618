// SPDX-License-Identifier: BSL-1.0
#include <tautline/hooks/step_rate_logger.hpp>

#include "support.hpp"

using namespace support;
using tautline::at_end;
using tautline::every_steps;
using tautline::monitored;
using tautline::step_rate_logger;
using tautline::try_monitored;

namespace {

struct memory_writer {
  lines written;
  void add_scalar(std::string_view tag, double what, step_number step) {
    written.push_back(std::string(tag) + " " + number(what) + " " + number(step));
  }
};

auto into(lines& said, world& of) {
  return tautline::logging{.log = [&said](std::string_view line) { said.emplace_back(line); }, .clock = run_clock{&of}};
}

}  // namespace

TEST_CASE("the rate is that since the last line, first since the session was made") {
  world of;
  of.ticks_a_run = 100;  // ten runs a second
  of.in_run = [&](long run) {
    if (run == 4) of.ticks_a_run = 500;
    return tautline::status{};
  };
  lines said;
  memory_writer writer;
  auto how = into(said, of);
  how.writer = writer;
  auto session = monitored(scripted(of), step_rate_logger{every_steps{2} | at_end, how});
  (void)session.run_steps(7);
  session.close();
  CHECK(joined(said) == "steps/sec: 10.00\nsteps/sec: 10.00\nsteps/sec: 2.00\nsteps/sec: 2.00\n");
  CHECK(writer.written == lines{"steps/sec 10 2", "steps/sec 10 4", "steps/sec 2 6", "steps/sec 2 7"});
}

TEST_CASE("every ten steps is the default, and several steps in a run count as such") {
  world of;
  of.per_run = 5;
  of.ticks_a_run = 100;
  lines said;
  step_rate_logger hook{every_steps{10}, into(said, of)};
  static_assert(std::is_same_v<decltype(step_rate_logger{}), step_rate_logger<every_steps>>);
  CHECK(step_rate_logger{}.trigger.period == 10);
  auto session = monitored(scripted(of), std::move(hook));
  (void)session.run_steps(2);
  CHECK(said == lines{"steps/sec: 50.00"});
}

TEST_CASE("a clock that stands still gives no line, and the next one covers both spans") {
  world of;
  of.ticks_a_run = 0;
  lines said;
  auto session = monitored(scripted(of), step_rate_logger{every_steps{2}, into(said, of)});
  (void)session.run_steps(3);
  CHECK(said.empty());
  of.ticks_a_run = 1000;
  (void)session.run_steps(1);
  CHECK(said == lines{"steps/sec: 4.00"});
}

TEST_CASE("after a recovery it starts afresh from the restored step") {
  world of;
  of.ticks_a_run = 100;
  of.in_run = [&](long run) {
    if (run == 4) of.ticks += 100'000;  // it takes long to break
    return run == 4 ? tautline::status{error_kind::aborted, "broken"} : tautline::status{};
  };
  lines said;
  auto session = monitored(scripted(of), step_rate_logger{every_steps{3}, into(said, of)});
  (void)session.run_steps(6);
  CHECK(said == lines{"steps/sec: 10.00", "steps/sec: 10.00"});
}

TEST_CASE("after a resume only the steps of this session count") {
  world of;
  of.first_step = 1000;
  of.ticks_a_run = 100;
  lines said;
  auto session = monitored(scripted(of), step_rate_logger{every_steps{4}, into(said, of)});
  (void)session.run_steps(4);
  CHECK(said == lines{"steps/sec: 10.00"});
}

TEST_CASE("the tag and the format are settings") {
  world of;
  of.ticks_a_run = 100;
  lines said;
  memory_writer writer;
  auto how = into(said, of);
  how.writer = writer;
  how.format = [](tautline::log_moment const& at) { return number(at.step) + " " + std::string(at.values); };
  auto session = monitored(scripted(of), step_rate_logger{every_steps{2}, how, "global_step/sec"});
  (void)session.run_steps(2);
  CHECK(said == lines{"2 global_step/sec: 10.00"});
  CHECK(writer.written == lines{"global_step/sec 10 2"});
}

TEST_CASE("log = false without a writer is an error") {
  world of;
  auto session = try_monitored(scripted(of), step_rate_logger{every_steps{2}, {.log = false}});
  CHECK(session.status().kind == error_kind::invalid_argument);
}

TEST_CASE("it asks for nothing") {
  world of;
  lines said;
  auto session = monitored(scripted(of), step_rate_logger{every_steps{1}, into(said, of)});
  (void)session.run();
  CHECK(count(of.trace, "run 1") == 1);
}
