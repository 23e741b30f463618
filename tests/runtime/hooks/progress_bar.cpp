// SPDX-License-Identifier: BSL-1.0
#include <stdexcept>

#include <tautline/hooks/progress_bar.hpp>

#include "support.hpp"

using namespace support;
using tautline::monitored;
using tautline::progress_bar;
using tautline::progress_options;
using tautline::terminal;
using tautline::try_monitored;

static_assert(progress_bar<>::singleton && progress_bar<"loss">::singleton);

namespace {

progress_options into(lines& drawn, world& of) {
  return {.interval = 1,
          .terminal = terminal::yes,
          .width = 4,
          .clock = run_clock{&of},
          .output = [&drawn](std::string_view text) { drawn.emplace_back(text); }};
}

}  // namespace

TEST_CASE("it draws after the first run, then at most once in the interval, and at the end") {
  world of;
  of.ticks_a_run = 400;  // of 1000 in a second
  lines drawn;
  auto session = monitored(scripted(of), progress_bar{8, into(drawn, of)});
  (void)session.run_steps(6);
  session.close();
  // first at 0.4 s; before run 5 it is 1.6 s
  CHECK(drawn == lines{"\r 12% [>   ] 1/8  2.5 steps/s  ETA 0:00:03\x1b[K",
                       "\r 62% [==> ] 5/8  2.5 steps/s  ETA 0:00:01\x1b[K",
                       "\r 75% [===>] 6/8  2.5 steps/s  ETA 0:00:01\x1b[K", "\n"});
}

TEST_CASE("it is full at the last step") {
  world of;
  lines drawn;
  auto session = monitored(scripted(of), progress_bar{3, into(drawn, of)});
  (void)session.run_steps(3);
  session.close();
  CHECK(drawn.at(1) == "\r100% [====] 3/3  100.0 steps/s\x1b[K");
}

TEST_CASE("a loss is fetched in the runs that draw, only") {
  world of;
  of.ticks_a_run = 400;
  lines drawn;
  auto session = monitored(scripted(of, [](long run) { return 1.0 / static_cast<double>(run); }),
                           progress_bar<"loss">{8, into(drawn, of)});
  (void)session.run_steps(6);
  session.close();
  CHECK(count(of.trace, "run 1 loss") + count(of.trace, "run 5 loss") == 2);
  CHECK(count(of.trace, "run 2") + count(of.trace, "run 3") + count(of.trace, "run 4") + count(of.trace, "run 6") == 4);
  CHECK(contains(drawn.at(1), "  loss 0.2\x1b[K"));
  CHECK_FALSE(contains(drawn.at(2), "loss"));  // that of step 6 is not known
}

TEST_CASE("without a total there is neither percent nor ETA") {
  world of;
  lines drawn;
  auto session = monitored(scripted(of), progress_bar{0, into(drawn, of)});
  (void)session.run();
  CHECK(drawn == lines{"\rstep 1  100.0 steps/s\x1b[K"});
}

TEST_CASE("the rate is that of this session, after a resume and after a recovery") {
  world of;
  of.ticks_a_run = 1000;
  of.first_step = 100;
  of.in_run = [&](long run) {
    if (run == 2) of.ticks += 50'000;
    return run == 2 ? tautline::status{error_kind::aborted, "broken"} : tautline::status{};
  };
  lines drawn;
  auto session = monitored(scripted(of), progress_bar{200, into(drawn, of)});
  (void)session.run_steps(2);
  CHECK(contains(drawn.at(0), " 101/200  1.0 steps/s  ETA 0:01:39"));
  CHECK(contains(drawn.at(1), " 101/200  1.0 steps/s"));
}

TEST_CASE("it is silent where there is no terminal, and reads no clock") {
  world of;
  lines drawn;
  auto how = into(drawn, of);
  how.terminal = terminal::no;
  auto session = monitored(scripted(of), progress_bar<"loss">{8, how});
  (void)session.run_steps(3);
  session.close();
  CHECK(drawn.empty());
  CHECK(count(of.trace, "run 1") == 1);
}

TEST_CASE("after an error the line is ended") {
  world of;
  of.in_run = [](long run) { return run == 2 ? tautline::status{error_kind::internal, "on fire"} : tautline::status{}; };
  lines drawn;
  auto session = try_monitored(scripted(of), progress_bar{8, into(drawn, of)});
  (void)session.try_run_to_completion();
  CHECK(drawn.size() == 2);
  CHECK(drawn.back() == "\n");
}

TEST_CASE("nothing was drawn, so there is no line to end") {
  world of;
  lines drawn;
  {
    auto session = monitored(scripted(of), progress_bar{8, into(drawn, of)});
  }
  CHECK(drawn.empty());
}

TEST_CASE("a second begin draws in its first run") {
  world of;
  lines drawn;
  progress_bar hook{8, into(drawn, of)};
  for (int i = 0; i < 2; ++i) {
    auto session = monitored(scripted(of), std::ref(hook));
    (void)session.run();
  }
  CHECK(drawn.size() == 6);  // each time drawn, drawn at the end, and ended
}

TEST_CASE("a loss that is not finite is shown as it is") {
  world of;
  lines drawn;
  auto session = monitored(scripted(of, [](long) { return std::numeric_limits<double>::quiet_NaN(); }),
                           progress_bar<"loss">{8, into(drawn, of)});
  (void)session.run();
  CHECK(contains(drawn.at(0), "  loss nan"));
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("what the output throws is an error of the hook") {
  world of;
  lines drawn;
  auto how = into(drawn, of);
  how.output = [](std::string_view) { throw std::runtime_error("terminal gone"); };
  auto session = monitored(scripted(of), progress_bar{8, how});
  CHECK(outcome_of([&] { (void)session.run(); }) == "threw terminal gone");
}
#endif
