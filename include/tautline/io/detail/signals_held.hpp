// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <tautline/core/config.hpp>

#if __has_include(<pthread.h>)
#include <pthread.h>
#include <signal.h>
#endif

TAUTLINE_BEGIN
namespace detail {

/// While it lives, threads that are made get no signals from outside: a program that waits for SIGINT or SIGTERM in its own
/// thread must not find a worker's system call interrupted instead. Those that tell of a fault of the thread itself stay.
class signals_held {
 public:
  signals_held(signals_held const&) = delete;
  signals_held& operator=(signals_held const&) = delete;
#if __has_include(<pthread.h>)
  signals_held() {
    sigset_t held;
    sigfillset(&held);
    int const faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    for (int const fault : faults) sigdelset(&held, fault);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~signals_held() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
#else
  signals_held() {}
  ~signals_held() {}
#endif
};

}  // namespace detail
TAUTLINE_END
