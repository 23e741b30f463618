// SPDX-License-Identifier: BSL-1.0
// GCC PR 103871, 109227: a braced list as an argument in an awaited expression is rejected.
// compiles: not where the defect is present
// rule: no braced list in an awaited or yielded expression
#include <initializer_list>

#include "canary.hpp"

struct answer {
  int value;
  static bool await_ready() { return true; }
  static void await_suspend(std::coroutine_handle<>) {}
  int await_resume() const { return value; }
};
answer sum(std::initializer_list<int> all) {
  int total = 0;
  for (int const one : all) total += one;
  return {total};
}

canary::generator<int> body() {
  int const total = co_await sum({1, 2, 3});
  co_yield total;
}

int main() {
  auto values = body();
  bool const right = values.next() && values.value() == 6;
  return canary::defect_is_present(!right);
}
