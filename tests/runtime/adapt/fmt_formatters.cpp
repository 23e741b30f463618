// SPDX-License-Identifier: BSL-1.0
#include <tautline/adapt/fmt.hpp>

#include "../core/support.hpp"

using namespace support;
using tautline::text;

TEST_CASE("texts have their numbers, and take the format of strings") {
  CHECK(fmt::format("{}", text("plateau")) == "plateau");
  CHECK(fmt::format("{}", text("below {} since step {}", 0.05, 1200)) == "below 0.05 since step 1200");
  CHECK(fmt::format("[{:>10}]", text("plateau")) == "[   plateau]");
  CHECK(fmt::format("[{:.4}]", text("plateau")) == "[plat]");
}

TEST_CASE("kinds of error and callbacks have names") {
  CHECK(fmt::format("{} in {}", error_kind::nan, callback::after_run) == "nan in after_run");
}

TEST_CASE("an error tells what, who, where and when") {
  tautline::error happened;
  happened.kind = error_kind::nan;
  happened.where = callback::after_run;
  happened.hook = "checker";
  happened.has_step = true;
  happened.step = 3;
  happened.message = text("loss is {}", 0.5);
  CHECK(fmt::format("{}", happened) == "loss is 0.5 (nan, hook checker, after_run, step 3)");
}

TEST_CASE("a stop and a completion tell who and why") {
  world of;
  auto session = tautline::monitored(backend(of), stop_after{2});
  CHECK(fmt::format("{}", session.stop()) == "nobody");
  auto const part = session.run_steps(1);
  CHECK(fmt::format("{}", part) == "1 steps");
  auto const done = session.run_to_completion();
  CHECK(fmt::format("{}", done.stop) == fmt::format("{} at step 2: the last step", done.stop.by));
  CHECK(fmt::format("{}", done) == fmt::format("2 steps, stopped by {} at step 2: the last step", done.stop.by));

  tautline::completion failed;
  failed.steps = 7;
  failed.error = error_kind::internal;
  CHECK(fmt::format("{}", failed) == "7 steps, error: internal");
}

TEST_CASE("a stop without a reason or a step has none") {
  tautline::stop_record stop;
  stop.source = tautline::stop_source::caller;
  stop.by = "caller";
  CHECK(fmt::format("{}", stop) == "caller");
}

TEST_CASE("what is too long is cut, not overrun") {
  std::string const name(1000, 'x');
  tautline::stop_record stop;
  stop.source = tautline::stop_source::hook;
  stop.by = name.c_str();
  stop.has_step = true;
  stop.reason = text("why");
  CHECK(fmt::format("{}", stop).size() <= 384);
  tautline::completion done;
  done.stop = stop;
  CHECK(fmt::format("{}", done).size() <= 384);
}
