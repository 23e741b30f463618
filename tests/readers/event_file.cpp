// SPDX-License-Identifier: BSL-1.0
// Writes event files of every kind below the folder that is its argument, and prints what they hold: a scalar as
// "RUN scalar TAG STEP BITS", a number of a histogram as "RUN number TAG STEP BITS", bits as sixteen hexadecimal digits.
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <tautline/core.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/io/event_file.hpp>
#include <tautline/io/png.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

namespace {

constexpr double start = 1700000000.125;

void say(char const* run, char const* kind, char const* tag, step_number step, double value) {
  std::printf("%s %s %s %" PRId64 " %016" PRIx64 "\n", run, kind, tag, step, std::bit_cast<std::uint64_t>(value));
}

/// A run whose clock goes on by a quarter of a second at each event.
struct run {
  run(std::string const& folder, char const* called, char const* suffix = "")
      : name(called), file(folder + "/" + called, {.suffix = suffix, .clock = [this] { return time += 0.25; }}) {}

  void scalar(char const* tag, double value, step_number step) {
    file.add_scalar(tag, value, step);
    say(name, "scalar", tag, step, static_cast<float>(value));  // a scalar is a float, but the nearest one
  }
  void numbers(char const* tag, std::vector<double> const& all, step_number step) {
    (void)file.add_histogram(tag, all, step);
    for (double const each : all) say(name, "number", tag, step, each);
  }

  double time = start;
  char const* name;
  event_file file;
};

/// Hands the graph of a training to the event file, in the place of a hook that saves.
struct graph_writer {
  using category = saver;
  static constexpr bool stateless = true;
  event_file* events;
  bool done = false;

  void before_run(auto&) {}
  [[nodiscard]] bool wants_save() const { return !done; }
  void save(training_state const& state, life&) {
    events->add_graph(state);
    done = true;
  }
};

void write_all_kinds(std::string const& folder) {
  run all(folder, "all", "kinds");
  std::vector<double> const values{0.1, -0.0, 1.0 / 3, 1e-30, 1e-45, std::numeric_limits<float>::max(), 16777217};
  for (std::size_t i = 0; i < values.size(); ++i) all.scalar("values/exact", values[i], static_cast<step_number>(i));
  all.scalar("values/special", std::numeric_limits<double>::quiet_NaN(), 1);
  all.scalar("values/special", std::numeric_limits<double>::infinity(), 2);
  all.scalar("values/special", -std::numeric_limits<double>::infinity(), 3);
  all.scalar("far", 1, 1'000'000'000'000);
  all.scalar("grüße/€", 2, 1);
  for (step_number step = 1; step <= 3000; ++step) all.scalar("many", std::sqrt(static_cast<double>(step)), step);

  std::vector<double> spread;
  for (int i = 0; i < 1000; ++i) spread.push_back(std::sin(i * 0.37) * std::exp(i * 0.002));
  all.numbers("weights", spread, 1);
  spread.push_back(std::numeric_limits<double>::quiet_NaN());
  spread.push_back(std::numeric_limits<double>::infinity());
  all.numbers("weights", spread, 2);
  say("all", "scalar", "weights/not_finite", 2, 2);
  all.numbers("equal", {2.5, 2.5, 2.5}, 1);
  all.numbers("nothing", {}, 1);

  all.file.add_text("notes", "**bold** <script>alert(1)</script>", 1);
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 6 * 4 * 3; ++i) pixels.push_back(static_cast<std::uint8_t>(i * 3));
  all.file.add_image("picture", png_of(6, 4, 3, pixels), 6, 4, 1);
  all.file.add_hparams({{"rate", 0.1}, {"depth", 3}, {"nesterov", true}, {"optimizer", "sgd"}}, {"values/exact"});
  all.file.end_hparams(training_outcome::success);

  auto graph = static_graph{}
                   .variable<"weights">(std::array<std::array<float, 3>, 2>{})
                   .placeholder<"rate">(0.1F)
                   .op<"model/loss", "weights">([](auto const& w) { return w[0][0]; })
                   .update<"model/train", "weights", "rate", "model/loss">([](auto& w, float rate, float) { w[0][0] += rate; });
  auto session = monitored(graph, stop_at_step{2}, graph_writer{.events = &all.file});
  session.run_to_completion(target<"model/train">);
  session.close();
  all.file.close();
}

/// Steps 1 to 100, then a process that goes on after step 60.
void write_resumed(std::string const& folder) {
  run first(folder, "resumed");
  for (step_number step = 1; step <= 100; ++step) {
    first.file.add_scalar("loss", 1, step);
    first.file.add_scalar("only/before", 1, step);
    if (step <= 60) say("resumed", "scalar", "loss", step, 1), say("resumed", "scalar", "only/before", step, 1);
  }
  first.file.close();
  run second(folder, "resumed");
  second.file.mark_restart(60);
  for (step_number step = 61; step <= 120; ++step) second.scalar("loss", 2, step);
  second.file.mark_restart(110);  // and a recovery of the same process
  for (step_number step = 111; step <= 120; ++step) second.file.add_scalar("loss", 2, step);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  write_all_kinds(words[1]);
  write_resumed(words[1]);
  run plain(words[1], "plain");
  for (step_number step = 1; step <= 10; ++step) plain.scalar("loss", static_cast<double>(step), step);
}
