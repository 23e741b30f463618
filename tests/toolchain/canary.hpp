// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>

// What the canaries share. No header of the library: these programs are about the compiler.

namespace canary {

/// What run.py reads: 0 the compiler is right, 10 the defect is present. Any other end (a crash) counts as present.
inline int defect_is_present(bool present) { return present ? 10 : 0; }

/// The least generator. It may be asked to throw from unhandled_exception.
template <class Value, bool Rethrows = false>
class generator {
 public:
  struct promise_type {
    Value const* shown = nullptr;
    generator get_return_object() { return generator(std::coroutine_handle<promise_type>::from_promise(*this)); }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(Value const& value) noexcept {
      shown = &value;
      return {};
    }
    static void return_void() noexcept {}
    static void unhandled_exception() {
      if constexpr (Rethrows) throw;
      std::terminate();
    }
  };

  explicit generator(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  generator(generator const&) = delete;
  generator& operator=(generator const&) = delete;
  ~generator() { handle_.destroy(); }

  bool next() {
    handle_.resume();
    return !handle_.done();
  }
  [[nodiscard]] Value const& value() const { return *handle_.promise().shown; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace canary
