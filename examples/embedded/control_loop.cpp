// SPDX-License-Identifier: BSL-1.0
//
// Training on the side, in a control loop of 1 kHz. In each period control comes first, and takes its time; what is left of the
// period goes to the training: run_for makes as many steps as fit into it. Only the first slice may take too long, since
// nothing is known of a step then.
//
//   -semihosting-config arg=periods=100   how many; 500

#include <tautline/core.hpp>
#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "board/print.hpp"
#include "board/tick.hpp"
#include "failed.hpp"
#include "hooks.hpp"
#include "model/mlp.hpp"

using namespace tautline;

extern "C" void on_tick() { board::milliseconds = board::milliseconds + 1; }

/// The controller: something that takes between a tenth and most of a period, and of the first one nearly all.
static void control(std::uint32_t period) {
  std::uint32_t const most = period == 1 ? 23'900 : 2000 + period * 7919 % 22'000;  // ticks of 40 ns
  std::uint32_t const start = board::tick_clock::now();
  while (board::tick_clock::now() - start < most) {
  }
}

static auto make_session() {
  return monitored(mlp::make_graph(), options{with_clock{board::tick_clock{}}},
                   nan_checker<"loss">::with(skip_at_most{3}),
                   running_statistics<"loss">{},
                   board_watchdog{2'500'000});
}

int main() {
  std::uint32_t const periods = board::option("periods", 500);
  constexpr std::uint32_t reserve = 400;  // 16 µs, for what comes between the last step of a slice and the next period

  static auto session = make_session();
  board::tick_clock::start();
  std::uint32_t late = 0;  // slices that reached into the next period, by the board's own count
  std::uint32_t idle = 0;  // slices that were too short for a step
  step_number before = 0;
  for (std::uint32_t period = 1; period <= periods; ++period) {
    board::wait_until(period);
    control(period);
    std::uint32_t const end = (period + 1) * board::tick_clock::per_millisecond - reserve;
    auto const left = static_cast<std::int32_t>(end - board::tick_clock::now());
    completion const done = session.run_for(left, target<"train">);
    if (!done) return failed(session.status());
    if (left > 0 && board::milliseconds > period) ++late;
    if (done.steps == before) ++idle;
    before = done.steps;
  }
  session.close();

  auto const& seen = session.hook<running_statistics<"loss">>();
  board::line{}.number(periods).put(" periods; slices that took too long: ").number(late).put(", as the session counts: ")
      .number(session.overruns()).say();
  // how fast a step is, is the compiler's matter
  board::line{}.put("# ").number(static_cast<std::uint32_t>(before)).put(" steps, loss ").fixed(seen.mean(), 5)
      .put(" on average; slices too short for a step: ").number(idle).say();
  return session.overruns() <= 1 && late == session.overruns() ? 0 : 1;
}
