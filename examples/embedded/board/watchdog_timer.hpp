// SPDX-License-Identifier: BSL-1.0
//
// The board's watchdog (CMSDK APB watchdog): a counter that resets the chip unless somebody reloads it in time.

#pragma once

#include <cstdint>

namespace board {

class watchdog_timer {
 public:
  /// The chip is reset once `ticks` of 25 MHz have gone by twice without a `kick`: after the first time it warns.
  static void start(std::uint32_t ticks) {
    unlock();
    reg(0x0) = ticks;
    reg(0x8) = 3;  // counts, and resets
  }
  static void stop() {
    unlock();
    reg(0x8) = 0;
  }
  static void kick() { reg(0xc) = 1; }

 private:
  static void unlock() { reg(0xc00) = 0x1acce551; }
  static std::uint32_t volatile& reg(std::uintptr_t offset) {
    return *reinterpret_cast<std::uint32_t volatile*>(0x40008000 + offset);
  }
};

}  // namespace board
