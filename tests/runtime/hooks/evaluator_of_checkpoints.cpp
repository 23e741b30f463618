// SPDX-License-Identifier: BSL-1.0
#include <array>

#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/evaluator.hpp>
#include <tautline/io/background_checkpoints.hpp>

#include "../core/training.hpp"
#include "../io/training.hpp"

// An evaluator that evaluates what has been saved.

namespace {

using namespace training;
using io_test::lines;
using io_test::scratch;
using tautline::at_end;
using tautline::background_checkpoints;
using tautline::checkpoint_saver;
using tautline::checkpoint_store;
using tautline::dataset;
using tautline::datasets;
using tautline::evaluator;
using tautline::every_steps;
using tautline::feed;
using tautline::keep_all;
using tautline::latest_of;
using tautline::metrics;

constexpr std::array<float, 2> elements{0, 2};
auto const sets = datasets{dataset<"validation">([]() -> auto const& { return elements; })};
auto const feed_x = [](float x) { return feed<"x">(x); };  // "loss" is w + x: its mean is w + 1

struct writes {
  std::vector<std::string>* written;
  void add_scalar(std::string_view, double what, step_number step) { written->push_back(number(what) + " at " + number(step)); }
};

TEST_CASE("it evaluates the latest checkpoint, by that one's step, once each; the training notices nothing") {
  scratch folder;
  background_checkpoints saved(folder / "saved", keep_all{});
  std::vector<std::string> numbers;
  writes writer{&numbers};
  {
    auto session = monitored(summing(), options{restore_from{saved}}, checkpoint_saver{saved, every_steps{3}},
                             named<"evaluator">(evaluator{every_steps{2}, latest_of{saved}, sets, metrics<"loss">{}, feed_x, [](float) { return 1; },
                                                          {.log = false, .writer = writer}}));
    (void)session.run_steps(7, target<"train">);  // w: 0 1 3 6 10 15 21
    CHECK(session.run(target<"train">, fetch<"train">)[fetch<"train">] == 28);
    CHECK(session.hook<"evaluator">().evaluations() == 2);
  }
  // in step 2 there is none, in step 6 that of step 6 is still to come, so it is that of step 3 again
  CHECK(joined(numbers) == joined({"4 at 3", "16 at 6"}));
}

struct asks {
  static constexpr bool stateless = true;
  std::vector<std::string>* seen;
  auto before_run(auto&) { return fetch<"validation/loss">; }
  void after_run(auto& ctx, auto& values) { seen->push_back(number(ctx.step()) + ": " + number(values[fetch<"validation/loss">])); }
  void after_run(auto&) {}
};

TEST_CASE("it publishes in the runs in which there was something new; without a weight, elements are equal") {
  scratch folder;
  background_checkpoints saved(folder / "saved", keep_all{});
  std::vector<std::string> seen;
  auto session = monitored(summing(), options{restore_from{saved}}, checkpoint_saver{saved, every_steps{3}},
                           evaluator{every_steps{1}, latest_of{saved}, sets, metrics<"loss">{}, feed_x}, asks{&seen});
  (void)session.run_steps(7, target<"train">);
  CHECK(joined(seen) == joined({"4: 4", "7: 16"}));
}

TEST_CASE("a store that only reads: of another training") {
  scratch folder;
  {
    background_checkpoints saved(folder / "saved", keep_all{});
    auto session = monitored(summing(), checkpoint_saver{saved, at_end});
    (void)session.run_steps(5, target<"train">);
  }
  checkpoint_store other(folder / "saved", keep_all{}, {.read_only = true});
  std::vector<std::string> numbers;
  writes writer{&numbers};
  auto session = monitored(summing(), evaluator{every_steps{1}, latest_of{other}, sets, metrics<"loss">{}, feed_x, [](float) { return 1; },
                                                {.log = false, .writer = writer}});
  (void)session.run_steps(2, target<"train">);
  CHECK(joined(numbers) == joined({"11 at 5"}));
}

TEST_CASE("a checkpoint of another graph is an error that names the variable") {
  scratch folder;
  {
    background_checkpoints saved(folder / "saved");
    auto other = tautline::static_graph{}.variable<"v">(0.0F).update<"train", "v">([](float& v) { v += 1; });
    auto session = monitored(other, checkpoint_saver{saved, at_end});
    (void)session.run_steps(1, target<"train">);
  }
  background_checkpoints saved(folder / "saved");
  auto session = monitored(summing(), evaluator{every_steps{1}, latest_of{saved}, sets, metrics<"loss">{}, feed_x});
  CHECK(session.try_run(target<"train">).error() == error_kind::invalid_argument);
  CHECK(written(session.status()).find("variable/w") != std::string::npos);
}

TEST_CASE("a folder that cannot be read is an error, with its reason") {
  scratch folder;
  io_test::write(folder / "saved", "a file");
  checkpoint_store saved(folder / "saved", keep_all{}, {.read_only = true});
  auto session = monitored(summing(), evaluator{every_steps{1}, latest_of{saved}, sets, metrics<"loss">{}, feed_x});
  CHECK(session.try_run(target<"train">).error() != error_kind::none);
}

}  // namespace
