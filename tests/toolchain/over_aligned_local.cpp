// SPDX-License-Identifier: BSL-1.0
// LLVM #56671, P2014: an over-aligned local is misaligned in a frame, whose memory is aligned as operator new does it.
// rule: nothing in the loop's frame is aligned beyond 16 bytes; hooks and graphs live in the session
#include <cstdint>

#include "canary.hpp"

struct alignas(64) wide {
  char x[64];
};

canary::generator<std::uintptr_t> body() {
  wide local{};
  std::uintptr_t const address = reinterpret_cast<std::uintptr_t>(&local);
  co_yield address;
  local.x[0] = 1;  // alive over the yield
  std::uintptr_t const again = reinterpret_cast<std::uintptr_t>(&local);
  co_yield again;
}

int main() {
  // one of several frames is misaligned by chance of the heap only: look at many
  bool misaligned = false;
  for (int i = 0; i < 64; ++i) {
    void* const gap = ::operator new(static_cast<std::size_t>(16 * (i % 5) + 8));
    auto addresses = body();
    while (addresses.next()) misaligned = misaligned || addresses.value() % 64 != 0;
    ::operator delete(gap);
  }
  return canary::defect_is_present(misaligned);
}
