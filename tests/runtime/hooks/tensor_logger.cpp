// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <memory>
#include <stdexcept>

#include <tautline/hooks/tensor_logger.hpp>
#include <tautline/sessions/step_function.hpp>

#include "support.hpp"

using namespace support;
using tautline::at_end;
using tautline::at_steps;
using tautline::every_seconds;
using tautline::every_steps;
using tautline::log_moment;
using tautline::monitored;
using tautline::never;
using tautline::once;
using tautline::options;
using tautline::step_function;
using tautline::tensor_logger;
using tautline::try_monitored;
using tautline::value;
using tautline::with_clock;

namespace {

struct memory_writer {
  lines written;
  void add_scalar(std::string_view tag, double what, step_number step) {
    written.push_back(std::string(tag) + " " + number(what) + " " + number(step));
  }
};

/// A sink into `said`, and lines that are nothing but "step: values".
tautline::logging plain(lines& said) {
  return {.log = [&said](std::string_view line) { said.emplace_back(line); },
          .format = [](log_moment const& at) { return number(at.step) + ": " + std::string(at.values); }};
}

/// What a logger says in a session of `runs` runs whose loss is the number of the raw run.
template <class Trigger>
lines said_by(Trigger trigger, int runs, world of = {}) {
  lines said;
  auto session = monitored(scripted(of, [](long run) { return static_cast<double>(run); }),
                           tensor_logger<"loss">{trigger, plain(said)});
  (void)session.run_steps(runs);
  session.close();
  lines again;  // the form with the trigger in its type says the same
  world other;
  other.first_step = of.first_step;
  other.per_run = of.per_run;
  other.in_run = of.in_run;
  auto second = monitored(scripted(other, [](long run) { return static_cast<double>(run); }),
                          tensor_logger<"loss">::with(trigger, plain(again)));
  (void)second.run_steps(runs);
  second.close();
  CHECK(joined(again) == joined(said));
  return said;
}

}  // namespace

TEST_CASE("every N steps, fresh: at N, 2N, 3N") {
  CHECK(said_by(every_steps{3}, 7) == lines{"3: loss = 3", "6: loss = 6"});
}

TEST_CASE("every step is the default") {
  world of;
  lines said;
  auto session = monitored(scripted(of), tensor_logger<"loss">{});
  CHECK(session.hook<tensor_logger<"loss">>().trigger.may_fire_at_end() == false);
}

TEST_CASE("also first: in the first run, too") {
  CHECK(said_by(every_steps{.period = 3, .also_first = true}, 4) == lines{"1: loss = 1", "3: loss = 3"});
}

TEST_CASE("at the end the last step's values are shown, unless they were") {
  CHECK(said_by(every_steps{3} | at_end, 5) == lines{"3: loss = 3", "5: loss = 5"});
  CHECK(said_by(every_steps{3} | at_end, 6) == lines{"3: loss = 3", "6: loss = 6"});
  CHECK(said_by(never | at_end, 4) == lines{"4: loss = 4"});
  CHECK(said_by(once | at_end, 1) == lines{"1: loss = 1"});
  CHECK(said_by(every_steps{3} | at_end, 0).empty());
}

TEST_CASE("after a resume it goes on in the period") {
  world of;
  of.first_step = 5;
  CHECK(said_by(every_steps{3}, 4, of) == lines{"6: loss = 1", "9: loss = 4"});
}

TEST_CASE("a step that is jumped over counts in the run that jumps") {
  world of;
  of.per_run = 4;
  CHECK(said_by(at_steps{1, 9}, 3, of) == lines{"4: loss = 1", "12: loss = 3"});
}

TEST_CASE("after a recovery that goes back it says again what is computed again") {
  world of;
  of.in_run = broken_in(4);
  CHECK(said_by(every_steps{2}, 5, of) == lines{"2: loss = 2", "2: loss = 6"});
}

TEST_CASE("values are fetched only in the runs that are due, with at_end in every run") {
  world of;
  auto const traced = [&](auto trigger) {
    of.trace.clear();
    of.runs = 0;
    lines said;
    auto session = monitored(scripted(of), tensor_logger<"loss">{trigger, plain(said)});
    (void)session.run_steps(3);
    return count(of.trace, "run 1 loss") + count(of.trace, "run 2 loss") + count(of.trace, "run 3 loss");
  };
  CHECK(traced(every_steps{2}) == 1);
  CHECK(traced(every_steps{2} | at_end) == 3);
}

TEST_CASE("the default line has the time since the last one, by the clock that is given") {
  world of;
  of.ticks_a_run = 250;  // of 1000 in a second
  lines said;
  auto session = monitored(scripted(of, [](long run) { return static_cast<double>(run) / 4; }),
                           tensor_logger<"loss", "w">{every_steps{2},
                                                      {.log = [&](std::string_view line) { said.emplace_back(line); },
                                                       .clock = run_clock{&of}}});
  (void)session.run_steps(4);
  CHECK(joined(said) == "(    N/A    ) Step:      2, loss = 0.5, w = 0.5\n"
                        "(    0.500 s) Step:      4, loss = 1, w = 1\n");
}

TEST_CASE("every_seconds looks at the session's clock, and is refused without one") {
  world of;
  of.ticks_a_run = 400;
  lines said;
  {
    auto session = monitored(scripted(of), options{with_clock{run_clock{&of}}},
                             tensor_logger<"loss">{every_seconds{1}, plain(said)});
    (void)session.run_steps(9);
  }
  CHECK(said.size() == 2);  // 1.2 s before run 4, 1.6 s after it; 2.8 s before run 8
  CHECK(said.front().starts_with("4: "));
  CHECK(said.back().starts_with("8: "));
  auto session = try_monitored(scripted(of), tensor_logger<"loss">{every_seconds{1} | at_end, plain(said)});
  CHECK(session.status().kind == error_kind::invalid_argument);
  CHECK(contains(written(session.status().message), "clock"));
}

TEST_CASE("scalars go to the summary writer, with the step") {
  world of;
  memory_writer writer;
  lines said;
  auto how = plain(said);
  how.writer = writer;
  auto session = monitored(scripted(of, [](long run) { return static_cast<double>(run); }),
                           tensor_logger<"loss", "w">{every_steps{2} | at_end, how});
  (void)session.run_steps(3);
  session.close();
  CHECK(writer.written == lines{"loss 2 2", "w 2 2", "loss 3 3", "w 3 3"});
}

TEST_CASE("silent with a writer, an error without one") {
  world of;
  auto writer = std::make_shared<memory_writer>();
  {
    auto session = monitored(scripted(of), tensor_logger<"loss">{every_steps{1}, {.log = false, .writer = writer}});
    (void)session.run_steps(2);
  }
  CHECK(writer->written.size() == 2);
  auto session = try_monitored(scripted(of), tensor_logger<"loss">{every_steps{1}, {.log = false}});
  CHECK(session.status().kind == error_kind::invalid_argument);
  CHECK(session.status().where == callback::begin);
}

TEST_CASE("numbers, arrays and ranges are shown, of long ones the first eight") {
  lines said;
  memory_writer writer;
  auto how = plain(said);
  how.writer = writer;
  auto session = monitored(step_function([] {
                             std::vector<int> many(20, 7);
                             return tautline::named_values{
                                 value<"small">(0.1f), value<"large">(std::int64_t{1234567890123}), value<"flag">(true),
                                 value<"row">(std::array<double, 3>{1.5, 2, 1e-9}), value<"many">(many),
                                 value<"none">(std::vector<float>{}),
                                 value<"matrix">(std::array<std::array<int, 2>, 2>{{{1, 2}, {3, 4}}})};
                           }),
                           tensor_logger<"small", "large", "flag", "row", "many", "none", "matrix">{every_steps{1}, how});
  (void)session.run();
  CHECK(joined(said) == "1: small = 0.1, large = 1234567890123, flag = 1, row = [1.5, 2, 1e-09], "
                        "many = [7, 7, 7, 7, 7, 7, 7, 7, …] (20), none = [], matrix = [1, 2, 3, 4]\n");
  CHECK(writer.written.size() == 3);
}

TEST_CASE("values that are not finite are shown as they are") {
  lines said;
  auto session = monitored(step_function([] { return value<"loss">(std::numeric_limits<float>::quiet_NaN()); }),
                           tensor_logger<"loss">{every_steps{1}, plain(said)});
  (void)session.run();
  CHECK(said == lines{"1: loss = nan"});
}

namespace {
struct publisher {
  using provides = tautline::provides<"validation", double>;
  void after_run(auto& ctx) {
    if (ctx.step() % 2 == 0) ctx.template publish<"validation">(static_cast<double>(ctx.step()) / 10);
  }
};
}  // namespace

TEST_CASE("a value that another hook publishes is shown in the runs that have it") {
  world of;
  lines said;
  auto session = monitored(scripted(of), tensor_logger<"validation">{every_steps{1}, plain(said)}, publisher{});
  (void)session.run_steps(5);
  CHECK(said == lines{"2: validation = 0.2", "4: validation = 0.4"});
}

TEST_CASE("there is nothing at the end after an error") {
  world of;
  of.in_run = [](long run) { return run == 3 ? tautline::status{error_kind::internal, "on fire"} : tautline::status{}; };
  lines said;
  auto session = try_monitored(scripted(of), tensor_logger<"loss">{every_steps{2} | at_end, plain(said)});
  (void)session.try_run_to_completion();
  (void)session.try_close();
  CHECK(said.size() == 1);
}

TEST_CASE("a second begin starts the time anew, and forgets the values") {
  world of;
  lines said;
  tensor_logger<"loss"> hook{every_steps{1} | at_end,
                             {.log = [&](std::string_view line) { said.emplace_back(line); }, .clock = run_clock{&of}}};
  for (int i = 0; i < 2; ++i) {
    auto session = monitored(scripted(of, [](long) { return 1.0; }), std::ref(hook));
    (void)session.run_steps(1);
  }
  CHECK(said == lines{"(    N/A    ) Step:      1, loss = 1", "(    N/A    ) Step:      1, loss = 1"});
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("what a sink or a writer throws is an error of the hook") {
  world of;
  auto session = monitored(scripted(of), tensor_logger<"loss">{every_steps{2}, {.log = [](std::string_view) {
                                                                 throw std::runtime_error("disk full");
                                                               }}},
                           probe{&of, "p"});
  CHECK(outcome_of([&] { (void)session.run_to_completion(); }) == "threw disk full");
  CHECK(session.status().step == 2);
  CHECK(session.status().where == callback::after_run);
  CHECK(contains(session.status().hook, "tensor_logger"));
  CHECK(count(of.trace, "close p") == 1);
}

TEST_CASE("what a sink throws in end reaches the caller of close") {
  world of;
  auto session = monitored(scripted(of), tensor_logger<"loss">{never | at_end, {.log = [](std::string_view) {
                                                                 throw std::runtime_error("disk full");
                                                               }}});
  (void)session.run();
  CHECK(outcome_of([&] { session.close(); }) == "threw disk full");
}
#endif
