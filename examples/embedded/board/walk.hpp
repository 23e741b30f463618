// SPDX-License-Identifier: BSL-1.0
//
// Cuts the power at every single write to the flash, one after the other, and sees whether each training that is interrupted
// so ends like the one that is not. It goes on over resets by itself: `-semihosting-config arg=walk=1`.

#pragma once

#include <cstdint>

#include "flash_bank.hpp"
#include "print.hpp"

namespace board {

/// Called first in main(): what happens at power-on, and what the emulator's command line asks for.
inline void boot() {
  kept_words& all = kept();
  if (all.powered != kept_words::mark) {
    all = {.powered = kept_words::mark, .boots = 0, .writes = 0, .cut = option("cut", 0), .walk = option("walk", 0),
           .expected_writes = 0, .expected = 0};
    flash_bank::wipe();
  }
  ++all.boots;
}

/// Called last in main(). @param digest of all that the training has come to @return whether there is something to say
inline bool walked(std::uint32_t digest) {
  kept_words& all = kept();
  if (all.walk == 0) return true;
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
    line{}.put("cut at each of ").number(all.expected_writes).put(" writes: every training ended like the undisturbed one").say();
    exit(0);
  }
  all.cut = all.walk++;
  all.boots = 0;
  all.writes = 0;
  flash_bank::wipe();
  reset_now();
}

}  // namespace board
