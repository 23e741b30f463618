// SPDX-License-Identifier: BSL-1.0
// GCC PR 106188: co_await in the condition of a loop, in a body without a local in its outermost block: the frame is
// corrupt.
// rule: what is awaited goes into a local of its own; no co_await in a condition
#include "canary.hpp"

struct answer {
  bool value;
  static bool await_ready() { return false; }
  static void await_suspend(std::coroutine_handle<>) {}
  [[nodiscard]] bool await_resume() const { return value; }
};
int asked = 0;

canary::generator<int> body() {
#if defined(CONTROL)
  for (;;) {
    bool const more = co_await answer{++asked < 3};
    if (!more) break;
    co_await std::suspend_always{};
  }
#else
  while (co_await answer{++asked < 3}) co_await std::suspend_always{};
#endif
}

int main() {
  int suspensions = 0;
  {
    auto values = body();
    while (suspensions < 100 && values.next()) ++suspensions;
  }
  return canary::defect_is_present(suspensions != 5);
}
