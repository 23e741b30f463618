// SPDX-License-Identifier: BSL-1.0
//
// Training on the device without a floating-point unit: a filter that finds an echo, adapted by LMS in fixed point,
// sample by sample. No heap, no exceptions, no RTTI; all memory is static. Checkpoints and the options of the command
// line are those of train_float.cpp.

#include <tautline/core.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/io/two_slot_checkpoints.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "board/flash_bank.hpp"
#include "board/print.hpp"
#include "digest.hpp"
#include "failed.hpp"
#include "hooks.hpp"
#include "model/lms.hpp"

using namespace tautline;

static board::flash_bank flash;
static two_slot_checkpoints checkpoints{flash};

using clap_gate = bounds_gate<"error">;
using statistics = running_sums<"loss">;
using loss_log = ring_log<"loss", std::int32_t, 8>;

static auto make_session(step_number steps) {
  return monitored(lms::make_graph(), options{restore_from{checkpoints}},
                   stop_at_step{steps},
                   clap_gate{20'000},
                   statistics{},
                   loss_log{every_steps{16}},
                   board_watchdog{2'500'000},  // 0.1 s
                   checkpoint_saver{checkpoints, every_steps{200} | at_end});
}

int main() {
  board::boot();
  static auto session = make_session(board::option("steps", 2000));
  auto const first = static_cast<std::uint32_t>(session.completed_steps());
  if (first > 0) board::line{}.put("# goes on from step ").number(first).say();
  if (!session.run_to_completion(target<"train">)) return failed(session.status());
  session.close();
  if (session.status()) return failed(session.status());

  auto const& filter = session.raw()[fetch<"filter">];
  auto const& seen = session.hook<statistics>();
  auto const& log = session.hook<loss_log>();
  digest all;
  all.add(filter).add(seen.mean()).add(seen.variance()).add(log.count());
  for (std::uint32_t age = 0; age < 8; ++age) all.add(log.back(age));

  auto const steps = static_cast<std::uint32_t>(session.completed_steps());
  board::line{}.number(steps).put(" steps, stopped by ").put(session.stop().by).say();
  board::line{}.put("squared error ").number(static_cast<std::uint32_t>(seen.mean())).put(" / 32768 on average, ")
      .number(session.hook<clap_gate>().skipped()).put(" claps left out").say();
  board::line found;
  found.put("taps / 32768, found and true:");
  for (std::size_t tap = 0; tap < 4; ++tap) {
    found.put(' ').integer(filter[tap] >> 16).put('=').integer(lms::room[tap]);
  }
  found.say();
  board::line{}.put("digest ").hex(all.value()).say();
  return 0;
}
