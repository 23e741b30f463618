// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>

#include "script.hpp"

/// What every backend that plays a scenario has around it.
namespace conformance {

/// A number that nobody may see: what stands in the place of a value that was not asked for.
inline constexpr double untouched = -987654321;

/// Ten ticks pass in a raw run and none elsewhere, so that a budget of `run_for` is a number of runs.
struct run_clock {
  world* played;
  [[nodiscard]] std::uint64_t now() const { return played->ticks; }
  static constexpr std::uint64_t ticks_per_second() { return 1000; }
};

inline auto settings(world& played) {
  return tautline::options{tautline::with_clock{run_clock{&played}}, tautline::longest_step{10},
                           tautline::max_recoveries{static_cast<std::uint8_t>(std::min(played.script.max_recoveries, 255))},
                           tautline::frame_bytes<1024>{}};
}

}  // namespace conformance
