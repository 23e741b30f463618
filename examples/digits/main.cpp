// SPDX-License-Identifier: BSL-1.0
//
// Trains a network with one hidden layer on pictures of handwritten digits, under a set of hooks. `model.hpp` has the
// network, `kernels.hpp` its arithmetic, `data.hpp` the pictures.
//
// The training log goes to the standard error, what came out to the standard output. Exit codes: 0; 1 if the training
// failed; 2 if what was given is not understood.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <tautline/adapt/fmt.hpp>
#include <tautline/tautline.hpp>

#include "command_line.hpp"
#include "data.hpp"
#include "metrics_file.hpp"
#include "model.hpp"

namespace {

using namespace tautline;

void train(digits::settings const& given) {
  using digits::batch;
  digits::pictures const data = digits::read_csv(given.data);
  std::vector<batch> const held_out = digits::in_batches(data.held_out);
  std::vector<batch> const training = digits::in_batches(data.train);
  std::optional<digits::metrics_file> metrics_file;
  if (!given.out.empty()) metrics_file.emplace(given.out);
  auto const writer = [&] { return metrics_file ? scalar_writer(*metrics_file) : scalar_writer(); };

  // --steps and the end of the input after --epochs: whatever comes first
  step_number const endless = std::numeric_limits<step_number>::max();
  step_number const last = given.steps > 0 ? given.steps : endless;
  step_number const input = given.epochs > 0 ? given.epochs * static_cast<step_number>(training.size()) : endless;
  step_number const expected = std::min(last, input);

  fmt::print("digits: {} pictures to learn from, {} held out\n", data.train.size(), data.held_out.size());
  fmt::print("network 64-32-10, {} steps of {} pictures, rate {}, seed {}\n", expected, digits::batch_rows, given.rate,
             given.seed);
  std::fflush(stdout);

  auto session = monitored(
      digits::make_graph(data.train, given.epochs, given.seed, given.rate),  //
      nan_checker<"loss">{},                                                 //
      stop_at_step{last},                                                    //
      tensor_logger<"loss", "accuracy">{every_steps{300} | at_end, {.writer = writer()}},
      step_rate_logger{every_steps{900}},
      named<"evaluation">(evaluator{every_steps{600} | at_end,
                                    datasets{dataset<"held-out">([&]() -> auto const& { return held_out; }),
                                             dataset<"training">([&]() -> auto const& { return training; })},
                                    metrics<"loss", "accuracy">{},
                                    [](batch const& part) { return feed<"batch">(part); },
                                    [](batch const& part) { return part.size; },
                                    {.writer = writer()}}),
      progress_bar<"loss">{expected});

  auto const start = std::chrono::steady_clock::now();
  completion const done = session.run_to_completion(target<"train">);
  session.close();  // the destructor would do it, but could not report an error
  std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;

  fmt::print("stopped by {}\n", done.stop);
  fmt::print("{} steps in {:.2f} s, {:.0f} steps/s\n", done.steps, seconds.count(),
             static_cast<double>(done.steps) / seconds.count());
  fmt::print("held-out accuracy: {:.3f}\n", session.hook<"evaluation">().get<"held-out", "accuracy">());
  if (metrics_file) fmt::print("files written:\n  {}\n", metrics_file->path());
}

}  // namespace

int main(int count, char** arguments) {
  auto const [next, exit_code, given] = digits::parse_command_line(count, arguments);
  if (next == digits::command::exit) return exit_code;
  try {
    train(given);
    return 0;
  } catch (digits::input_error const& refused) {
    fmt::print(stderr, "digits_demo: {}\n", refused.what());
    return 2;
  } catch (std::exception const& failed) {
    fmt::print(stderr, "digits_demo: {}\n", failed.what());
    return 1;
  }
}
