// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>

#include <tautline/core/life.hpp>

TAUTLINE_BEGIN

/// How often the loop yields: a resume is paid only when somebody wants to look.
namespace pace {
/// Never: the whole training is one resume.
struct unlimited {
  static constexpr bool reached() { return false; }
};
/// After each run.
struct every_run {
  static constexpr bool reached() { return true; }
};
/// After a number of runs.
struct runs {
  std::int64_t left;
  constexpr bool reached() { return --left <= 0; }
};
}  // namespace pace

namespace detail {

#if defined(__OPTIMIZE__)
[[gnu::error("tautline: the loop's coroutine frame does not fit the session's memory. Mend: give it more, as in "
             "monitored(graph, options{frame_bytes<512>{}}, hooks...)")]] void
frame_does_not_fit();
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // false for promises with a placement (g++ 12)
#endif

/// The coroutine that drives a session. Its frame lives in the session's memory, never on the heap; a frame that does
/// not fit gives an empty loop.
class loop {
 public:
  struct promise_type {
    void const* yielded = nullptr;

    template <class Session, class... Arguments>
    static void* operator new(std::size_t bytes, Session& session, Arguments&...) noexcept {
#if defined(__OPTIMIZE__)
      if (__builtin_constant_p(bytes) && bytes + 64 > Session::memory_size) frame_does_not_fit();
#endif
      return session.frame_memory().take_frame(bytes);
    }
    static void operator delete(void*, std::size_t) noexcept {}

    static loop get_return_object_on_allocation_failure() noexcept { return loop{}; }
    loop get_return_object() noexcept { return loop{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(auto const& context) noexcept {
      yielded = &context;
      return {};
    }
    static void return_void() noexcept {}
    /// The body calls nothing that throws: `stepper::attempt` turns every exception into the session's error.
    static void unhandled_exception() noexcept { std::terminate(); }
    void await_transform(auto&&) = delete;
  };

  loop() = default;
  loop(loop const&) = delete;
  loop& operator=(loop const&) = delete;
  loop(loop&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  loop& operator=(loop&& other) noexcept {
    auto const taken = other.handle_;
    other.handle_ = nullptr;
    destroy();
    handle_ = taken;
    return *this;
  }
  ~loop() { destroy(); }

  void destroy() {
    if (handle_) handle_.destroy();
    handle_ = nullptr;
  }
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(handle_); }
  [[nodiscard]] bool done() const { return handle_.done(); }
  TAUTLINE_INLINE void resume() const { handle_.resume(); }
  /// The address of the context that was yielded last.
  [[nodiscard]] void const* yielded() const { return handle_.promise().yielded; }

 private:
  explicit loop(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace detail
TAUTLINE_END
