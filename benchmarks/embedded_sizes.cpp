// SPDX-License-Identifier: BSL-1.0
//
// A training of some steps on a Cortex-M with one hook, or with none: embedded_sizes.py compiles it for each hook and
// takes the difference.
//
//   -DHEADER=<…>    the hook's header, if it is not one of the core
//   -DHOOK=…        the hook, as an argument of monitored(); without it there is none
//   -DOPTIONS=…     the session's options
//   -DPREPARE=…     what stands before it

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "hooks.hpp"
#include "board/semihosting.hpp"
#include "board/tick.hpp"
#ifdef HEADER
#include HEADER
#endif
#ifdef CHECKPOINTS
#include <tautline/io/two_slot_checkpoints.hpp>

#include "board/flash_bank.hpp"
static board::flash_bank flash;
static tautline::two_slot_checkpoints checkpoints{flash};
#endif

using namespace tautline;

#ifndef OPTIONS
#define OPTIONS options{}
#endif
#ifdef PREPARE
PREPARE
#endif

extern "C" void on_tick() { board::milliseconds = board::milliseconds + 1; }

/// The input of the training; a checkpoint has to know where it stands.
struct steps_left {
  std::uint32_t left = 100;
  bool operator()(float& sample) { return sample = static_cast<float>(left % 2), left-- > 0; }
  auto state() { return fields{field<"left">(left)}; }
};

static auto make_session() {
  auto graph = static_graph{}
                   .variable<"gain">(0.0F)
                   .placeholder<"rate">(0.4F)
                   .source<"sample">(0.0F, steps_left{})
                   .op<"error", "gain", "sample">([](float gain, float sample) { return (gain - 2) * sample; })
                   .op<"loss", "error">([](float error) { return error * error; })
                   .update<"train", "gain", "sample", "error", "rate">(
                       [](float& gain, float sample, float error, float rate) { gain -= rate * error * sample; });
#ifdef HOOK
  return monitored(graph, OPTIONS, HOOK);
#else
  return monitored(graph, OPTIONS);
#endif
}
static auto session = make_session();

int main() {
  if (!session.is_open()) return 1;
  completion const done = session.run_to_completion(target<"train">);
  session.close();
  return done ? 0 : 2;
}
