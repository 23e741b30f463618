// SPDX-License-Identifier: BSL-1.0
//
// From power-on to main(): the vector table, memory, the constructors of static objects.

#include <cstdint>

#include "semihosting.hpp"

extern "C" {

extern std::uint32_t board_data_image[], board_data_begin[], board_data_end[], board_bss_begin[], board_bss_end[];
extern std::uint32_t board_stack_top[];
using initializer = void (*)();
extern initializer board_init_begin[], board_init_end[];
int program() asm("main");  // C++ forbids to call it by its name

[[noreturn]] void reset() {
#if defined(__ARM_FP)
  *reinterpret_cast<std::uint32_t volatile*>(0xe000ed88) |= 0xfU << 20;  // CPACR: the floating-point unit is on
  asm volatile("dsb\n\tisb" ::: "memory");
#endif
  std::uint32_t const* from = board_data_image;
  for (std::uint32_t* to = board_data_begin; to != board_data_end;) *to++ = *from++;
  for (std::uint32_t* to = board_bss_begin; to != board_bss_end;) *to++ = 0;
  for (initializer const* each = board_init_begin; each != board_init_end; ++each) (*each)();
  board::exit(program());
}

/// An interrupt that nobody has asked for, or a fault: the program is at an end.
[[noreturn]] void board_fault() {
  board::print("fault\n");
  board::exit(70);
}

/// The watchdog's time has run out once; when it does so again the chip is reset.
void board_warning() {}

[[gnu::weak]] void on_tick() { board_fault(); }

/// Firmware does not end: nothing is destroyed behind main(), so nobody has to keep a list of what that would be.
int __aeabi_atexit(void*, void (*)(void*), void*) { return 0; }
void* __dso_handle = nullptr;

}  // extern "C"

using handler = void (*)();
[[gnu::section(".vectors"), gnu::used]] static handler const vectors[16] = {
    reinterpret_cast<handler>(board_stack_top),
    reset,
    board_warning,  // NMI
    board_fault,  // hard fault
    board_fault, board_fault, board_fault, nullptr, nullptr, nullptr, nullptr,
    board_fault,  // SVCall
    board_fault, nullptr,
    board_fault,  // PendSV
    on_tick,      // SysTick
};
