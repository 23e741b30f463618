// SPDX-License-Identifier: BSL-1.0
// GCC PR 106188: a body without a local in its outermost block, and co_await in a condition: the frame is corrupt.
// rule: the first statement of every coroutine declares a local
#include "canary.hpp"

struct answer {
  bool value;
  static bool await_ready() { return false; }
  static void await_suspend(std::coroutine_handle<>) {}
  [[nodiscard]] bool await_resume() const { return value; }
};

canary::generator<int> body() {
#if defined(CONTROL)
  int const a_local_cures_it = 0;
  (void)a_local_cures_it;
#endif
  switch (co_await answer{true}) {
    case true: co_await std::suspend_always{}; break;
    default: break;
  }
}

int main() {
  int suspensions = 0;
  {
    auto values = body();
    while (values.next()) ++suspensions;
  }
  return canary::defect_is_present(suspensions != 2);
}
