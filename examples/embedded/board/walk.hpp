// SPDX-License-Identifier: BSL-1.0
//
// Cuts the power at every single write to the flash, one after the other, and sees whether each training that is interrupted
// so ends like the one that is not. It goes on over resets by itself: `-semihosting-config arg=walk=1`; with walk=10 at each
// tenth write.

#pragma once

#include <cstdint>

#include <tautline/core.hpp>

#include "flash_bank.hpp"
#include "print.hpp"

namespace board {

/// Called first in main(): what happens at power-on, and what the emulator's command line asks for.
inline void boot() {
  kept_words& all = kept();
  if (all.powered != kept_words::mark) {
    all = {};
    all.powered = kept_words::mark;
    all.cut = option("cut", 0);
    all.walk = option("walk", 0) != 0 ? 1 : 0;
    all.stride = option("walk", 0);
    flash_bank::wipe();
  }
  ++all.boots;
}

/// Called when the session has been made. @param step where its training begins
inline void began(tautline::step_number step) {
  if (step > 0) ++kept().resumed;
}

/// Called last in main(). @param digest of all that the training has come to @return whether there is something to say
inline bool walked(std::uint32_t digest) {
  kept_words& all = kept();
  if (all.walk == 0) {
    line{}.put("# boots: ").number(all.boots).put(", from a checkpoint: ").number(all.resumed).say();
    return true;
  }
  if (all.walk == 1) {
    all.expected = digest;
    all.expected_writes = all.writes;
  } else if (digest != all.expected) {
    line{}.put("cut at write ").number(all.cut).put(": the training ended otherwise").say();
    exit(1);
  } else if (all.boots != 2) {
    line{}.put("cut at write ").number(all.cut).put(": ").number(all.boots).put(" boots instead of 2").say();
    exit(1);
  }
  if (all.walk > all.expected_writes) {
    line{}.put("cut at ").number(all.cuts).put(" of ").number(all.expected_writes)
        .put(" writes: every training ended like the undisturbed one, ").number(all.resumed).put(" went on from a checkpoint").say();
    exit(0);
  }
  ++all.cuts;
  all.cut = all.walk;
  all.walk += all.stride;
  all.boots = 0;
  all.writes = 0;
  flash_bank::wipe();
  reset_now();
}

/// A step that hangs, once: the watchdog resets the chip, and the training goes on from its checkpoint. `arg=hang=300`
class hangs_once {
 public:
  static constexpr bool real_time = true;
  static constexpr bool stateless = true;
  explicit hangs_once(tautline::step_number step) : step_(step) {}

  void before_run(auto& ctx) noexcept {
    while (ctx.step() == step_ && kept().boots == 1) asm volatile("");
  }

 private:
  tautline::step_number step_;  // 0: at none
};

}  // namespace board
