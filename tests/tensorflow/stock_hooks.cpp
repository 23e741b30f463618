// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <tautline/adapt/chrono.hpp>
#include <tautline/hooks/any_hook.hpp>
#include <tautline/hooks/early_stopping.hpp>
#include <tautline/hooks/evaluator.hpp>
#include <tautline/hooks/feed_fn.hpp>
#include <tautline/hooks/final_ops.hpp>
#include <tautline/hooks/learning_rate_schedule.hpp>
#include <tautline/hooks/loss_logger.hpp>
#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/off_thread.hpp>
#include <tautline/hooks/on_rank_zero.hpp>
#include <tautline/hooks/pipeline.hpp>
#include <tautline/hooks/progress_bar.hpp>
#include <tautline/hooks/row_logger.hpp>
#include <tautline/hooks/script.hpp>
#include <tautline/hooks/spike_checker.hpp>
#include <tautline/hooks/step_rate_logger.hpp>
#include <tautline/hooks/step_timer.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/hooks/stopper.hpp>
#include <tautline/hooks/summary_saver.hpp>
#include <tautline/hooks/tensor_logger.hpp>
#include <tautline/hooks/timeline.hpp>
#include <tautline/hooks/triggered.hpp>
#include <tautline/hooks/watchdog.hpp>
#include <tautline/io/event_file.hpp>
#include <tautline/io/jsonl_file.hpp>
#include <tautline/sessions/tensorflow.hpp>
#include <tautline/sessions/tensorflow/ops.hpp>

#include "../scratch.hpp"
#include "files.hpp"

// The hooks that the library has, on a graph of TensorFlow, as on any other.

using namespace tautline;
using tautline::tensorflow::tensor;

namespace {

/// loss = (w - x)², w += rate * 2 * (x - w): w goes from 0 to x.
auto falling_graph() {
  tensorflow_graph<> made;
  auto ops = made.ops();
  auto const w = ops.variable<float>("w", {2}, 0.0F);
  auto const x = ops.placeholder_with_default(ops.constant<float>({1, 3}), {2}, "x");
  auto const rate = ops.placeholder_with_default(ops.constant(0.25F), {}, "rate");
  auto const away = ops.sub(ops.read(w), x, "away");
  auto const loss = ops.reduce_sum(ops.square(away), "loss");
  auto const read = ops.control_dependencies({loss});
  auto const moved = read.assign_sub(w, 2 * rate * away);
  (void)ops.control_dependencies({moved}).assign_add(ops.global_step(), ops.constant(std::int64_t{1}), "train");
  return std::move(made)
      .value<"loss", float>()
      .value<"away", tensor<float, 1>>()
      .value<"w", tensor<float, 1>>()
      .value<"global_step", std::int64_t>()
      .step_target<"train">();
}

script_body waits_for_small_loss(script_context<value_of<"loss", float>> life) {
  for (;;) {
    float const loss = co_await life.next_value();
    if (loss < 1.0F) break;
  }
  life.request_stop("small");
}

struct acting {
  std::vector<step_number>* steps;
  void on_trigger(life& at, since_triggered const&) const { steps->push_back(at.step()); }
};

}  // namespace

TEST_CASE("loggers, summaries and rows take scalars and tensors") {
  scratch_test::scratch const here;
  std::vector<std::string> lines;
  log_sink const log([&](std::string_view line) { lines.emplace_back(line); });
  {
    event_file events(here.path);
    auto session = monitored(falling_graph(), stop_at_step{4}, nan_checker<"loss", "away">{},
                             tensor_logger<"loss", "away">{every_steps{2}, {.log = log}},
                             loss_logger<model<loss<"loss">>>{every_steps{4}, {.log = log}},
                             summary_saver<"loss", "w">{events, every_steps{2}}, step_rate_logger{every_steps{2}, {.log = log}},
                             jsonl_logger<"loss", "global_step">{here / "rows.jsonl", every_steps{1}},
                             timeline{here / "trace.json", at_steps{3}}, step_timer{});
    CHECK(session.run_to_completion(target<"train">).steps == 4);
  }
  REQUIRE(!lines.empty());
  CHECK(lines[0].find("loss = 2.5, away = [-0.5, -1.5]") != std::string::npos);
  std::string const rows = files::content(here / "rows.jsonl");
  CHECK(rows.find("\"loss\":10") != std::string::npos);
  std::string const trace = files::content(here / "trace.json");
  CHECK(trace.find("\"name\":\"loss\"") != std::string::npos);   // an operation of the engine
  CHECK(trace.find("\"name\":\"train\"") != std::string::npos);
}

TEST_CASE("hooks that feed, stop and watch a value") {
  auto session = monitored(falling_graph(), stop_if_below<"loss">{0.1}, stopper<"loss">{{.max_steps = 50}}, spike_checker<"loss">{on_nan::stop, {.warm_up = 100}},
                           learning_rate_schedule<"rate">([](step_number) { return 0.25; }));
  completion const done = session.run_to_completion(target<"train">);
  CHECK(std::string_view(done.stop.by).starts_with("stop_if_below"));
  CHECK(done.steps > 1);
  CHECK(done.steps < 50);
}

TEST_CASE("feed_fn feeds, final_ops reads at the end") {
  std::array<float, 2> w{};
  auto session = monitored(falling_graph(), stop_at_step{1}, feed_fn<"x">([](step_number) { return std::array<float, 2>{4, 8}; }), final_ops<"w">::then([&](auto const& result) { w = {result[fetch<"w">][0], result[fetch<"w">][1]}; }));
  CHECK(session.run_to_completion(target<"train">));
  CHECK(session.try_close().kind == error_kind::none);
  CHECK(w == std::array<float, 2>{2, 4});
}

TEST_CASE("pipelines, scripts, triggered and rank-wise hooks") {
  std::vector<step_number> acted;
  auto session = monitored(falling_graph(), script<&waits_for_small_loss>{}, triggered{acting{&acted}, every_steps{2}},
                           on_rank_zero{0, stop_at_step{100}},
                           observe<"loss">() | where(below(0.01F)) | request_stop("tiny: {}"));
  completion const done = session.run_to_completion(target<"train">);
  char reason[96];
  done.stop.reason.write_to(reason, sizeof reason);
  CHECK(std::string_view(reason) == "small");
  CHECK(done.steps == 3);
  CHECK(acted == std::vector<step_number>{2});
}

TEST_CASE("a value that is only a view is refused where it would be kept") {
  static_assert(!detail::can_be_recorded<tensor<float, 1>>);
  static_assert(!detail::can_be_recorded<tensor<std::string_view, 1>>);
  static_assert(!detail::can_be_recorded<std::string_view>);
  static_assert(detail::can_be_recorded<float>);
  auto session = monitored(falling_graph(), stop_at_step{3}, off_thread{tensor_logger<"loss">{every_steps{1}, {.log = log_sink([](std::string_view) {})}}});
  CHECK(session.run_to_completion(target<"train">).steps == 3);
}

TEST_CASE("an evaluation leaves the values of the run as they are") {
  std::vector<double> means;
  auto session = monitored(
      falling_graph(),
      basic_evaluator{every_steps{1}, datasets{dataset<"held_out">([] { return std::vector<std::array<float, 2>>{{0, 0}, {10, 10}}; })},
                      metrics<"loss">{}, [](std::array<float, 2> const& x) { return feed<"x">(x); }, equal_weights{},
                      [&](step_number, evaluation const& found) { means.push_back(found.values[0]); }});
  auto const run = session.run(target<"train">, fetch<"loss">, fetch<"away">);
  CHECK(run[fetch<"loss">] == 10.0F);
  CHECK(run[fetch<"away">][1] == -3.0F);
  REQUIRE(means.size() == 1);
  // w is (0.5, 1.5): 0.25 + 2.25, and 90.25 + 72.25
  CHECK(means[0] == doctest::Approx((2.5 + 162.5) / 2));
}
