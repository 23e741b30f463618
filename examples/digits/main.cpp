// SPDX-License-Identifier: BSL-1.0
//
// Trains a network with one hidden layer on pictures of handwritten digits, under a full set of hooks. `model.hpp` has the
// network, `kernels.hpp` its arithmetic, `data.hpp` the pictures.
//
// With --out it leaves checkpoints, event files for TensorBoard, a trace for Perfetto, rows of JSON and metrics for
// Prometheus; killed at any moment, it goes on with --resume as if nothing had happened.
//
// The training log goes to the standard error, what came out to the standard output. Exit codes: 0; 1 if the training
// failed; 2 if what was given is not understood.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tautline/adapt/fmt.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/prometheus_metrics.hpp>
#include <tautline/hooks/row_logger.hpp>
#include <tautline/hooks/stop_on_signal.hpp>
#include <tautline/hooks/summary_saver.hpp>
#include <tautline/hooks/timeline.hpp>
#include <tautline/io/background_checkpoints.hpp>
#include <tautline/io/event_file.hpp>
#include <tautline/tautline.hpp>

#include "command_line.hpp"
#include "data.hpp"
#include "model.hpp"
#include "run_folder.hpp"

namespace {

using namespace tautline;

struct training_data {
  explicit training_data(std::string const& file)
      : pictures(digits::read_csv(file)),
        held_out(digits::in_batches(pictures.held_out)),
        training(digits::in_batches(pictures.train)) {}
  digits::pictures pictures;
  std::vector<digits::batch> held_out;
  std::vector<digits::batch> training;
};

/// Trains with the hooks that every run has, and with those given.
/// @param numbers where evaluations go besides the log
template <class Options, class... Hooks>
void train(digits::settings const& given, training_data const& data, any_summary_writer numbers, Options options, Hooks... more) {
  using digits::batch;
  // --steps and the end of the input after --epochs: whatever comes first
  step_number const endless = std::numeric_limits<step_number>::max();
  step_number const last = given.steps > 0 ? given.steps : endless;
  step_number const input = given.epochs > 0 ? given.epochs * static_cast<step_number>(data.training.size()) : endless;
  step_number const expected = std::min(last, input);

  fmt::print("digits: {} pictures to learn from, {} held out\n", data.pictures.train.size(), data.pictures.held_out.size());
  fmt::print("network 64-32-10, {} steps of {} pictures, rate {}, seed {}\n", expected, digits::batch_rows, given.rate,
             given.seed);
  std::fflush(stdout);

  auto session = monitored(
      digits::make_graph(data.pictures.train, given.epochs, given.seed, given.rate), std::move(options),  //
      stop_on_signal{},                                                                                   //
      stop_at_step{last},                                                                                 //
      named<"nan_checker">(nan_checker<"loss">::with(skip_at_most{3})),                                   //
      tensor_logger<"loss", "accuracy">{every_steps{300} | at_end},                                       //
      step_rate_logger{every_steps{900}},
      named<"evaluation">(evaluator{every_steps{600} | at_end,
                                    datasets{dataset<"held-out">([&]() -> auto const& { return data.held_out; }),
                                             dataset<"training">([&]() -> auto const& { return data.training; })},
                                    metrics<"loss", "accuracy">{},
                                    [](batch const& part) { return feed<"batch">(part); },
                                    [](batch const& part) { return part.size; },
                                    {.writer = numbers}}),
      progress_bar<"loss">{expected}, std::move(more)...);
  step_number const first = session.completed_steps();
  if (first > 0) fmt::print("resumed at step {}\n", first);

  auto const start = std::chrono::steady_clock::now();
  completion const done = session.run_to_completion(target<"train">);
  session.close();  // the destructor would do it, but could not report an error
  std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;

  fmt::print("stopped by {}\n", done.stop);
  fmt::print("{} steps in {:.2f} s, {:.0f} steps/s\n", done.steps - first, seconds.count(),
             static_cast<double>(done.steps - first) / seconds.count());
  fmt::print("held-out accuracy: {:.3f}\n", session.template hook<"evaluation">().template get<"held-out", "accuracy">());
}

void train_into(digits::settings const& given, training_data const& data) {
  digits::run_folder const folder(given.out, given.resume);
  event_file events(folder / "events");
  background_checkpoints saved(folder / "checkpoints", keep_latest{3} | keep_best<"held-out/accuracy">{1});
  train(given, data, events, options{restore_from{saved}, with_clock{steady_clock_ticks{}}},
        checkpoint_saver{saved, every_steps{300} | at_end, also_at_start, with_metrics<"held-out/accuracy">},
        summary_saver<"loss", "accuracy", "hidden/weights">{events, every_steps{20} | at_end},
        jsonl_logger<"loss", "accuracy">{folder / "metrics.jsonl", every_steps{10}, {.existing = existing_file::start_over}},
        jsonl_logger<"held-out/loss", "held-out/accuracy">{folder / "evaluation.jsonl", every_steps{}, {.existing = existing_file::start_over}},
        prometheus_metrics<"loss", "accuracy">{folder / "digits.prom", every_seconds{5}},
        timeline{folder / "trace.json", every_steps{50}});
  fmt::print("files written:\n");
  for (std::string const& file : folder.files()) fmt::print("  {}\n", file);
}

}  // namespace

int main(int count, char** arguments) {
  auto const [next, exit_code, given] = digits::parse_command_line(count, arguments);
  if (next == digits::command::exit) return exit_code;
  try {
    training_data const data(given.data);
    if (given.out.empty()) {
      train(given, data, {}, options{});
    } else {
      train_into(given, data);
    }
    return 0;
  } catch (digits::input_error const& refused) {
    fmt::print(stderr, "digits_demo: {}\n", refused.what());
    return 2;
  } catch (std::exception const& failed) {
    fmt::print(stderr, "digits_demo: {}\n", failed.what());
    return 1;
  }
}
