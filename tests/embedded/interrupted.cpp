// SPDX-License-Identifier: BSL-1.0
//
// Linked in front of main() of a firmware (--wrap=main), it interrupts the training, and says of each boot that it took place,
// and of each training that has ended how often the chip has booted for it. @see resets.py
//
//   -semihosting-config arg=walk=N   one training undisturbed, then one with the power cut at the first write to the
//                                    flash, one with it cut at write 1 + N, and so on up to the last write
//   -semihosting-config arg=hang=N   an interrupt that comes N ticks of 25 MHz after power-on never ends

#include <cstdint>

#include "board/flash_bank.hpp"
#include "board/print.hpp"

namespace {

/// What outlives a reset, behind what the board keeps itself.
struct walk_words {
  static constexpr std::uint32_t mark = 0x7a07114f;
  std::uint32_t powered;
  std::uint32_t stride;  // 0: there is one training
  std::uint32_t next;    // the write to cut next
  std::uint32_t writes;  // of the undisturbed training
};
walk_words& walk() { return *reinterpret_cast<walk_words*>(board_kept_begin + 128); }
static_assert(sizeof(board::kept_words) <= 128 * 4 && sizeof(walk_words) <= 128 * 4);

void start_timer(std::uint32_t ticks) {
  *reinterpret_cast<std::uint32_t volatile*>(0xe000e014) = ticks;
  *reinterpret_cast<std::uint32_t volatile*>(0xe000e018) = 0;
  *reinterpret_cast<std::uint32_t volatile*>(0xe000e010) = 7;
}

}  // namespace

int firmware() asm("__real_main");
int interrupted() asm("__wrap_main");

extern "C" void on_tick() {
  for (;;) asm volatile("");
}

int interrupted() {
  walk_words& all = walk();
  if (all.powered != walk_words::mark) {
    all = {walk_words::mark, board::option("walk", 0), 1, 0};
    if (std::uint32_t const ticks = board::option("hang", 0); ticks != 0) start_timer(ticks);
  }
  board::line{}.put("# boots").say();
  int const code = firmware();
  board::kept_words& board_words = board::kept();
  board::line{}.put("# ended, cut at write ").number(board_words.cut).put(" of ").number(board_words.writes)
      .put(", boots: ").number(board_words.boots).say();
  if (board_words.cut == 0) all.writes = board_words.writes;
  if (code != 0 || all.stride == 0 || all.next > all.writes) return code;
  board_words.cut = all.next;
  board_words.writes = 0;
  board_words.boots = 0;
  all.next += all.stride;
  board::flash_bank::wipe();
  board::reset_now();
}
