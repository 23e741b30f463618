// SPDX-License-Identifier: BSL-1.0
//
// The core's own timer: a tick of 1 kHz, and between two ticks a counter of 25 MHz.

#pragma once

#include <cstdint>

namespace board {

inline std::uint32_t volatile milliseconds = 0;  // on_tick() counts

/// A clock of the library: 25 MHz, 32 bits, so it wraps every 171 s. A session carries it on.
struct tick_clock {
  static constexpr std::uint32_t per_millisecond = 25'000;

  static std::uint32_t now() {
    for (;;) {
      std::uint32_t passed = milliseconds;
      std::uint32_t left = reg(0x8);
      bool const turned = (interrupt_state() >> 26 & 1) != 0;  // the counter has begun anew, on_tick() is still to come
      if (milliseconds != passed) continue;                    // it came in between
      if (turned) left = reg(0x8), ++passed;
      return passed * per_millisecond + (per_millisecond - 1 - left);
    }
  }
  static std::uint32_t ticks_per_second() { return per_millisecond * 1000; }

  static void start() {
    milliseconds = 0;
    reg(0x4) = per_millisecond - 1;
    reg(0x8) = 0;
    reg(0x0) = 7;  // the core's clock, with interrupt
  }

 private:
  static std::uint32_t interrupt_state() { return *reinterpret_cast<std::uint32_t volatile*>(0xe000ed04); }  // ICSR
  static std::uint32_t volatile& reg(std::uintptr_t offset) {
    return *reinterpret_cast<std::uint32_t volatile*>(0xe000e010 + offset);
  }
};

/// Sleeps until so many milliseconds have gone by; returns at once if they have. With interrupts held back: one that came
/// between looking and sleeping would be slept through. It ends the sleep all the same.
inline void wait_until(std::uint32_t millisecond) {
  for (bool there = false; !there;) {
    asm volatile("cpsid i" ::: "memory");
    there = milliseconds >= millisecond;
    if (!there) asm volatile("wfi" ::: "memory");
    asm volatile("cpsie i" ::: "memory");
  }
}

/// Resets the chip. What is in RAM stays, but for what start-up writes.
[[noreturn]] inline void reset_now() {
  asm volatile("dsb" ::: "memory");
  *reinterpret_cast<std::uint32_t volatile*>(0xe000ed0c) = 0x05fa0004;  // AIRCR: SYSRESETREQ
  for (;;) asm volatile("dsb" ::: "memory");
}

}  // namespace board
