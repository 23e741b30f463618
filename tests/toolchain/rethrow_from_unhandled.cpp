// SPDX-License-Identifier: BSL-1.0
// LLVM #61900, #109542, CWG 2934: after unhandled_exception() has thrown, destroy() runs destructors of the last
// suspension point a second time. Optimised builds only.
// flags: -O2
// rule: unhandled_exception captures or ends the program, it never rethrows
#include <stdexcept>

#include "canary.hpp"

struct counted {
  int* live;
  explicit counted(int& all) : live(&all) { ++*live; }
  counted(counted const&) = delete;
  counted& operator=(counted const&) = delete;
  ~counted() { --*live; }
};

canary::generator<int, true> body(int& live) {
  counted const outer(live);
  int made = 0;
  for (;;) {
    counted const inner(live);
    co_yield made;
    if (++made == 2) throw std::runtime_error("boom");
  }
}

[[gnu::noinline]] void drive(int& live) {
  auto values = body(live);
  try {
    while (values.next()) {
    }
  } catch (std::runtime_error const&) {
  }
}

int main() {
  int live = 0;
  drive(live);
  return canary::defect_is_present(live != 0);
}
