// SPDX-License-Identifier: BSL-1.0
//
// A training as most want it: the folder's latest checkpoint, the hooks that every training has, event files, and a thread
// beside it that may end it. A worker then begins from what the chief has saved.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include <unistd.h>

#include <tautline/core.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/sessions/static_graph.hpp>
#include <tautline/training/coordinator.hpp>
#include <tautline/training/monitored_training_session.hpp>

using namespace tautline;

struct counting {
  int position = 0;
  bool operator()(float& x) { return x = static_cast<float>(++position % 10), true; }
  auto state() { return fields{field<"position">(position)}; }
};

/// Which nodes of the graph play which role.
using net = model<loss<"loss">, metrics<"distance">>;

auto make_graph() {
  return static_graph{}
      .variable<"w">(0.0F)
      .source<"x">(0.0F, counting{})
      .op<"distance", "w", "x">([](float w, float x) { return x - w; })
      .op<"loss", "distance">([](float distance) { return distance * distance; })
      .update<"train", "w", "distance">([](float& w, float distance) { return w += 0.01F * distance; });
}

void tell(char const* who, step_number from, completion const& done) {
  char why[96];
  done.stop.reason.write_to(why, sizeof why);
  std::printf("%s: from step %d to step %d, stopped by %s%s%s\n", who, int(from), int(done.stop.step), done.stop.by,
              *why != 0 ? ": " : "", why);
}

int main() {
  auto const folder = std::filesystem::temp_directory_path() / ("tautline-training-" + std::to_string(::getpid()));
  training_settings settings{.directory = folder, .save_checkpoint_steps = 1000, .log = false};

  for (step_number const last : {2500, 4000}) {  // the second time it goes on
    auto training = monitored_training_session<net>(make_graph(), settings, stop_at_step{last});
    step_number const from = training->completed_steps();
    tell("chief", from, training->run_to_completion(target<"train">));
  }
  int checkpoints = 0, event_files = 0;
  for (auto const& each : std::filesystem::recursive_directory_iterator(folder)) {
    checkpoints += each.path().extension() == ".safetensors" ? 1 : 0;
    event_files += each.path().filename().string().find("tfevents") != std::string::npos ? 1 : 0;
  }
  std::printf("checkpoints: %d, event files: %d\n", checkpoints, event_files);

  settings.role = role::worker;
  coordinator threads;
  {
    auto training = monitored_training_session<net>(make_graph(), settings, coordinated{threads});
    step_number const from = training->completed_steps();
    threads.spawn("deadline", [&] { threads.request_stop(); });
    completion const done = training->run_to_completion(target<"train">);
    std::printf("worker: from step %d, stopped by %s\n", int(from), done.stop.by);
  }
  std::filesystem::remove_all(folder);
}
