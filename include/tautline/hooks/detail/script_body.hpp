// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/hooks/script.hpp>

#include <coroutine>
#include <exception>

#include <tautline/core/diagnose.hpp>
#include <tautline/core/life.hpp>

// The coroutine that a script is: its body, what it waits for, and the memory that its frame lies in.

TAUTLINE_BEGIN

namespace detail {

template <class Awaited>
struct awaited_in_a_script : reason {
  static consteval void say() {
    static_assert(mended<awaited_in_a_script>,
                  "tautline: a script waits for events of its session, and for nothing else. Mend: co_await "
                  "life.next_value(), life.next_step() or life.next_end()");
  }
};

#if defined(__OPTIMIZE__)
[[gnu::error("tautline: the script's coroutine frame does not fit its memory. Mend: give it more, as in script<&body, "
             "frame_bytes<512>>{}")]] void
script_frame_does_not_fit();
#endif

/// What a script waits for.
enum class script_wait : std::uint8_t { nothing, value, step, end };

/// What a body and its hook share, whatever the script asks for.
struct script_core {
  life* at = nullptr;  ///< while the body runs
  std::byte* memory = nullptr;
  std::size_t capacity = 0;
  std::size_t wanted = 0;  ///< bytes of the frame
  script_wait wait = script_wait::nothing;

  void* take_frame(std::size_t bytes) {
    wanted = bytes;
    return bytes <= capacity ? memory : nullptr;
  }
};

/// Base of every context. The promise's operator new takes it, as it must be no template: g++ 12 would warn, in the user's
/// file, that operator delete does not belong to it.
class script_handle {
 public:
  // --- for the library ---
  [[nodiscard]] script_core& core() const { return *core_; }

 protected:
  explicit script_handle(script_core& core) : core_(&core) {}

 private:
  script_core* core_;
};
/// The object parameter of a lambda that is a script.
struct script_lambda {
  // NOLINTNEXTLINE(google-explicit-constructor)
  explicit(false) script_lambda(auto const&) {}
};

/// Base of everything that a body may await. Never ready: what a body gets happens after it asked.
class script_awaiter {
 public:
  constexpr script_awaiter(script_core& core, script_wait wait) : core_(&core), wait_(wait) {}
  static constexpr bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<>) const noexcept { core_->wait = wait_; }

 protected:
  script_core* core_;
  script_wait wait_;
};
class script_step_awaiter : public script_awaiter {
 public:
  using script_awaiter::script_awaiter;
  [[nodiscard]] step_number await_resume() const noexcept { return core_->at->step(); }
};
class script_end_awaiter : public script_awaiter {
 public:
  using script_awaiter::script_awaiter;
  static void await_resume() noexcept {}
};

}  // namespace detail

/// What the function of a script returns. @see script
class [[nodiscard]] script_body {
 public:
  class promise_type {
   public:
    static void* operator new(std::size_t bytes, detail::script_handle& life) noexcept {
      detail::script_core& core = life.core();
#if defined(__OPTIMIZE__)
      if (__builtin_constant_p(bytes > core.capacity) && bytes > core.capacity) detail::script_frame_does_not_fit();
#endif
      return core.take_frame(bytes);
    }
    static void* operator new(std::size_t bytes, detail::script_lambda, detail::script_handle& life) noexcept {
      return operator new(bytes, life);
    }
    static void operator delete(void*, std::size_t) noexcept {}

    static script_body get_return_object_on_allocation_failure() noexcept { return script_body({}); }
    script_body get_return_object() noexcept { return script_body(handle_type::from_promise(*this)); }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}

    template <class Awaited>
    static auto await_transform(Awaited awaited) noexcept {
      if constexpr (std::is_base_of_v<detail::script_awaiter, Awaited>) {
        return awaited;
      } else {
        if constexpr (!std::is_same_v<Awaited, detail::rejected>) detail::awaited_in_a_script<Awaited>::say();
        return std::suspend_never{};
      }
    }

#if TAUTLINE_EXCEPTIONS
    /// Kept, and thrown again by the hook: compilers do not agree on what an exception that leaves here destroys.
    void unhandled_exception() noexcept { thrown = std::current_exception(); }
    std::exception_ptr thrown;
#else
    static void unhandled_exception() noexcept { std::terminate(); }
#endif
  };
  using handle_type = std::coroutine_handle<promise_type>;

  /// The hook's, which destroys it.
  [[nodiscard]] handle_type handle() const { return handle_; }

 private:
  explicit script_body(handle_type handle) : handle_(handle) {}
  handle_type handle_;
};

TAUTLINE_END
