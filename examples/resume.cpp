// SPDX-License-Identifier: BSL-1.0
//
// A training that ends, and goes on later as if it had not: variables, where the input stands, its random state, what the
// hooks remember. Once in one piece, once in three, the last of which is not even told where the others ended: the
// results are equal, bit by bit. Then the newest checkpoint is damaged, and the one before it is used.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <tautline/core.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/early_stopping.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/io/background_checkpoints.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

/// A noisy input with a generator of its own, which is a part of the checkpoint.
struct noisy_line {
  std::uint32_t random = 1;
  bool operator()(float& x) {
    random = random * 1664525U + 1013904223U;
    return x = static_cast<float>(random >> 8) * 0x1p-24F, true;
  }
  auto state() { return fields{field<"random">(random)}; }
};

/// Trains up to step `last`, from wherever the folder has come to.
float train(std::string const& folder, step_number last) {
  auto graph = static_graph{}
                   .variable<"w">(0.0F)
                   .variable<"speed">(0.0F)
                   .source<"x">(0.0F, noisy_line{})
                   .op<"error", "w", "x">([](float w, float x) { return 2.5F + x - w; })
                   .op<"loss", "error">([](float error) { return error * error; })
                   .update<"train", "w", "speed", "error">([](float& w, float& speed, float error) {
                     speed = 0.9F * speed + 0.05F * error;
                     return w += speed;
                   });
  background_checkpoints saved{folder, keep_latest{2}, {.report = [](std::string_view line) {
                                 std::printf("  %s\n", std::string(line.substr(line.rfind("step-"))).c_str());
                               }}};
  auto session = monitored(graph, options{restore_from{saved}}, stop_at_step{last},
                           stop_if_no_decrease<"loss">{{.patience = 100'000}},
                           checkpoint_saver{saved, every_steps{100} | at_end});
  step_number const from = session.completed_steps();
  float w = 0;
  while (!session.should_stop()) w = session.run(target<"train">, fetch<"train">)[fetch<"train">];
  session.close();
  std::printf("%4d to %4d: w = %.6f\n", int(from), int(session.completed_steps()), double(w));
  return w;
}

int main() {
  auto const folder = std::filesystem::temp_directory_path() / ("tautline-resume-" + std::to_string(::getpid()));
  std::string const whole = folder / "whole", parts = folder / "parts";

  std::puts("in one piece");
  float const w = train(whole, 1000);

  std::puts("in three");
  train(parts, 250);
  train(parts, 777);
  float const same = train(parts, 1000);
  std::puts(std::memcmp(&w, &same, sizeof w) == 0 ? "the same bits" : "not the same");

  std::puts("the newest one is damaged");
  std::ofstream(parts + "/step-000000001000.safetensors", std::ios::app) << "one byte too many";
  float const again = train(parts, 1000);
  std::puts(std::memcmp(&w, &again, sizeof w) == 0 ? "the same bits" : "not the same");

  std::filesystem::remove_all(folder);
}
