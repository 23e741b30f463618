// SPDX-License-Identifier: BSL-1.0
//
// Training on the device, bare metal: a small network in float, one measurement a step. No heap, no exceptions, no
// RTTI; all memory is static. Whenever the chip is reset, it goes on from the newest whole checkpoint, and ends as if
// nothing had happened.
//
//   -semihosting-config arg=steps=500     how many steps; 2000
//   -semihosting-config arg=cut=100       the power goes at the 100th write to the flash

#include <tautline/core.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/io/two_slot_checkpoints.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "board/flash_bank.hpp"
#include "board/print.hpp"
#include "digest.hpp"
#include "failed.hpp"
#include "hooks.hpp"
#include "model/mlp.hpp"

using namespace tautline;

static board::flash_bank flash;
static two_slot_checkpoints checkpoints{flash};

using loss_check = decltype(nan_checker<"loss">::with(skip_at_most{3}));
using statistics = running_statistics<"loss">;
using loss_log = ring_log<"loss", float, 8>;

static auto make_session(step_number steps) {
  return monitored(mlp::make_graph(), options{restore_from{checkpoints}},
                   stop_at_step{steps},
                   loss_check{skip_at_most{3}},
                   statistics{},
                   loss_log{every_steps{16}},
                   board_watchdog{2'500'000},  // 0.1 s
                   checkpoint_saver{checkpoints, every_steps{200} | at_end});
}

int main() {
  board::boot();
  static auto session = make_session(board::option("steps", 2000));
  // After an update to a firmware with another model: forget the old checkpoint, and begin anew with the next boot. Never
  // twice, since then there is none.
  if (!session.is_open() && session.status().kind == error_kind::invalid_argument && !checkpoints.is_empty()) {
    if (checkpoints.clear().ok()) board::reset_now();
  }
  auto const first = static_cast<std::uint32_t>(session.completed_steps());
  if (first > 0) board::line{}.put("# goes on from step ").number(first).say();
  if (!session.run_to_completion(target<"train">)) return failed(session.status());
  session.close();
  if (session.status()) return failed(session.status());

  auto const model = session.raw();
  auto const& seen = session.hook<statistics>();
  auto const& log = session.hook<loss_log>();
  digest all;
  all.add(model[fetch<"hidden">]).add(model[fetch<"output">]).add(seen.mean()).add(seen.variance()).add(log.count());
  for (std::uint32_t age = 0; age < 8; ++age) all.add(log.back(age));

  auto const steps = static_cast<std::uint32_t>(session.completed_steps());
  board::line{}.number(steps).put(" steps, stopped by ").put(session.stop().by).say();
  board::line{}.put("loss ").fixed(seen.mean(), 5).put(" on average, variance ").fixed(seen.variance(), 5).put(", ")
      .number(static_cast<std::uint32_t>(session.hook<loss_check>().skipped())).put(" measurements left out").say();
  board::line last;
  last.put("logged last:");
  for (std::uint32_t age = 4; age-- > 0;) last.put(' ').fixed(log.back(age), 5);
  last.say();
  board::line{}.put("digest ").hex(all.value()).say();
  return 0;
}
