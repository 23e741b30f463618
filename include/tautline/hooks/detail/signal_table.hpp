// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/hooks/stop_on_signal.hpp>

#include <signal.h>  // NOLINT: POSIX

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <thread>

#include <tautline/core/life.hpp>

TAUTLINE_BEGIN
namespace detail {

/// What the signal handler of this process looks at: sessions that want to be stopped, in places that never move. The
/// handler reads and writes lock-free atomics only; the lock is for those who come and go.
class signal_table {
 public:
  static constexpr int places = 64;
  static constexpr int signals = 64;
  static constexpr int no_place = -1;

  static signal_table& instance() {
    static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
                  std::atomic<std::uint64_t>::is_always_lock_free);
    return table_;
  }

  static constexpr std::uint64_t bit_of(int signal) {
    return signal >= 1 && signal <= signals ? std::uint64_t{1} << (signal - 1) : 0;
  }

  /// @return the place, or `no_place` where there is none, or the system refuses a signal: then nothing has changed
  int add(stop_handle handle, std::uint64_t wanted) {
    std::lock_guard const guard(coming_and_going_);
    int free = 0;
    while (free < places && sessions_[free].wanted.load(std::memory_order_relaxed) != 0) ++free;
    if (free == places || wanted == 0) return no_place;
    if (count_++ == 0) received_.store(0, std::memory_order_relaxed);
    sessions_[free].handle = handle;
    sessions_[free].signal.store(0, std::memory_order_relaxed);
    sessions_[free].wanted.store(wanted);
    for (int signal = 1; signal <= signals; ++signal) {
      if ((wanted & bit_of(signal)) == 0 || install(signal)) continue;
      take_out(free, wanted & (bit_of(signal) - 1));
      return no_place;
    }
    return free;
  }

  /// Afterwards no handler, in whatever thread, looks at this session any more.
  void remove(int place) {
    std::lock_guard const guard(coming_and_going_);
    take_out(place, sessions_[place].wanted.load(std::memory_order_relaxed));
  }

  /// The signal that this session has got; 0 if none.
  [[nodiscard]] int received(int place) const { return sessions_[place].signal.load(); }

 private:
  struct session {
    std::atomic<std::uint64_t> wanted{0};  // one bit a signal; 0: the place is free
    std::atomic<int> signal{0};
    stop_handle handle;
  };

  static text words_for(int signal) {
    switch (signal) {
      case SIGHUP: return {"signal {} (SIGHUP)", signal};
      case SIGINT: return {"signal {} (SIGINT)", signal};
      case SIGQUIT: return {"signal {} (SIGQUIT)", signal};
      case SIGTERM: return {"signal {} (SIGTERM)", signal};
      case SIGALRM: return {"signal {} (SIGALRM)", signal};
      case SIGUSR1: return {"signal {} (SIGUSR1)", signal};
      case SIGUSR2: return {"signal {} (SIGUSR2)", signal};
      default: return {"signal {}", signal};
    }
  }

  /// Async-signal-safe: atomics, `sigaction`, `raise`.
  static void handle(int signal) {
    int const before = errno;
    table_.handlers_.fetch_add(1);
    if (table_.received_.exchange(signal) != 0) {
      // asked before: whoever sends it means it. It is blocked while this handler runs, and acts as this returns.
      struct sigaction plain {};
      plain.sa_handler = SIG_DFL;  // NOLINT: a macro of the system
      ::sigaction(signal, &plain, nullptr);
      ::raise(signal);
    } else {
      for (session& each : table_.sessions_) {
        if ((each.wanted.load() & bit_of(signal)) == 0) continue;
        each.signal.store(signal);
        each.handle.request_stop(words_for(signal));
      }
    }
    table_.handlers_.fetch_sub(1);
    errno = before;
  }

  /// The first that wants a signal puts the handler in. What is ignored stays ignored: that is how a shell and `nohup`
  /// say that it is not for this process.
  bool install(int signal) {
    watcher& watched = watched_[signal - 1];
    if (watched.users++ > 0) return true;
    struct sigaction ours {};
    ours.sa_handler = &signal_table::handle;
    ours.sa_flags = SA_RESTART;  // a read that is in progress goes on
    sigfillset(&ours.sa_mask);   // one at a time: the second must see what the first has done
    watched.installed = false;
    if (::sigaction(signal, nullptr, &watched.previous) != 0) return --watched.users, false;
    if (watched.previous.sa_handler == SIG_IGN) return true;  // NOLINT: a macro of the system
    if (::sigaction(signal, &ours, nullptr) != 0) return --watched.users, false;
    watched.installed = true;
    return true;
  }
  /// The last that leaves puts back what was there before, unless somebody has put in another one since.
  void uninstall(int signal) {
    watcher& watched = watched_[signal - 1];
    if (--watched.users > 0 || !watched.installed) return;
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler == &signal_table::handle) ::sigaction(signal, &watched.previous, nullptr);
  }
  void take_out(int place, std::uint64_t installed) {
    for (int signal = 1; signal <= signals; ++signal) {
      if ((installed & bit_of(signal)) != 0) uninstall(signal);
    }
    sessions_[place].wanted.store(0);
    while (handlers_.load() != 0) std::this_thread::yield();  // in other threads: one in this one has ended
    sessions_[place].handle = {};
    --count_;
  }

  struct watcher {
    struct sigaction previous {};
    int users = 0;
    bool installed = false;
  };

  static signal_table table_;
  session sessions_[places];
  std::atomic<int> received_{0};  // the first signal while there is a session
  std::atomic<int> handlers_{0};  // that run
  watcher watched_[signals];
  int count_ = 0;
  std::mutex coming_and_going_;
};

inline constinit signal_table signal_table::table_;

}  // namespace detail
TAUTLINE_END
