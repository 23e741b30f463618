// SPDX-License-Identifier: BSL-1.0
// Not a defect: whether the size that operator new of a promise gets is a constant in an optimised build. Where it is, a
// frame that does not fit the session's memory is refused by the compiler. "Present" is: it is not known.
// flags: -O2
// rule: the check in loop::promise_type::operator new is at compile time in optimised builds
#include "canary.hpp"

bool known = false;
struct sized {
  struct promise_type {
    static void* operator new(std::size_t bytes) {
      known = __builtin_constant_p(bytes);
      return ::operator new(bytes);
    }
    static void operator delete(void* gone, std::size_t) { ::operator delete(gone); }
    sized get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    static void return_void() {}
    static void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

std::coroutine_handle<> kept;
sized body(int given) {
  int const local = given;
  co_await std::suspend_always{};
  (void)local;
}

int main() {
  kept = body(3).handle;  // escapes, so that the frame is not left out
  kept.resume();
  kept.destroy();
  return canary::defect_is_present(!known);
}
