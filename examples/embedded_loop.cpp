// SPDX-License-Identifier: BSL-1.0
//
// Training on the side, in a control loop of 1 kHz: each period has some time left, and run_for makes as many steps as
// fit into it. Built without exceptions and without RTTI; all memory is static; the clock is a tick counter (here a
// simulated one with 1 µs a tick, so that the output is always the same).

#include <cstdint>
#include <cstdio>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

// The hardware, simulated: a free-running counter, and work that takes ticks.
static std::uint32_t ticks;
static std::uint32_t noise = 1;
static void work(std::uint32_t least, std::uint32_t spread) {
  noise = noise * 1664525U + 1013904223U;
  ticks += least + (noise >> 16) % (spread + 1);
}

struct tick_counter {
  static std::uint32_t now() { return ticks; }
  static std::uint32_t ticks_per_second() { return 1'000'000; }
};

struct stop_when_learned {
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto& ctx, auto& values) {
    if (values[fetch<"loss">] < 1e-4F) ctx.request_stop("learned");
  }
};

// A gain is learned from one measurement a step; a step takes 60 to 90 µs.
static auto make_session() {
  auto graph = static_graph{}
                   .variable<"gain">(0.0F)
                   .source<"sample">(0.0F,
                                     [](float& sample) {
                                       work(60, 30);
                                       sample = static_cast<float>(ticks % 7) / 7 + 0.5F;
                                       return true;
                                     })
                   .op<"error", "gain", "sample">([](float gain, float sample) { return gain * sample - 2.5F * sample; })
                   .op<"loss", "error">([](float error) { return error * error; })
                   .update<"train", "gain", "sample", "error">(
                       [](float& gain, float sample, float error) { gain -= 0.01F * error * sample; });
  return monitored(graph, options{with_clock{tick_counter{}}}, stop_when_learned{});
}

int main() {
  static auto session = make_session();
  if (!session.is_open()) return 1;

  constexpr std::uint32_t period = 1000;  // ticks
  int slices = 0;
  int idle = 0;  // slices too short for a step
  step_number steps_before = 0;
  for (std::uint32_t start = 0; !session.should_stop(); start += period) {
    ticks = start;
    // The controller comes first. In the very first period it leaves less time than a step takes, which the session
    // cannot know yet: that slice overruns, and no other does.
    slices == 0 ? work(950, 0) : work(400, 540);
    std::uint32_t const left = start + period - ticks;
    completion const done = session.run_for(left, target<"train">);
    if (done.steps == steps_before) ++idle;
    steps_before = done.steps;
    ++slices;
  }

  stop_record const stop = session.stop();
  std::printf("slices %d (too short for a step: %d), steps %d, overruns %u\n", slices, idle,
              int(session.completed_steps()), unsigned(session.overruns()));
  std::printf("gain %.2f, stopped by %s at step %d: %s\n", double(session.raw()[fetch<"gain">]), stop.by, int(stop.step),
              stop.reason.words());
  std::printf("the session takes %s 1 KiB\n", sizeof session <= 1024 ? "less than" : "more than");
  return session.status() ? 1 : 0;
}
