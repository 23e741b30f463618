// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/testing/laws.hpp>

#include <csignal>
#include <string>
#if __has_include(<sys/wait.h>) && __has_include(<unistd.h>)
#include <sys/wait.h>
#include <unistd.h>
#define TAUTLINE_CAN_FORK 1
#else
#define TAUTLINE_CAN_FORK 0
#endif

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN
namespace testing {
namespace detail {

/// Calls `body`, which returns a text, in a process of its own: what ends that is a line in the text, and so is a body that
/// takes longer than 30 seconds. Where there are no processes it is called in this one.
template <class Body>
std::string isolated(Body const& body) {
#if TAUTLINE_CAN_FORK
  int ends[2];
  if (pipe(ends) != 0) return body();
  pid_t const child = fork();
  if (child < 0) {
    close(ends[0]), close(ends[1]);
    return body();
  }
  if (child == 0) {
    alarm(30);
    // a test framework's own would report there, as if the test itself had been hit
    for (int const signal : {SIGABRT, SIGFPE, SIGILL, SIGSEGV, SIGTERM}) (void)std::signal(signal, SIG_DFL);
    std::string const said = body();
    std::size_t written = 0;
    while (written < said.size()) {
      ssize_t const more = write(ends[1], said.data() + written, said.size() - written);
      if (more <= 0) break;
      written += static_cast<std::size_t>(more);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char buffer[512];
  for (ssize_t got = read(ends[0], buffer, sizeof buffer); got > 0; got = read(ends[0], buffer, sizeof buffer)) {
    said.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int how = 0;
  waitpid(child, &how, 0);
  if (WIFSIGNALED(how)) said += "the program was ended by signal " + std::to_string(WTERMSIG(how)) + "\n";
  if (WIFEXITED(how) && WEXITSTATUS(how) != 0) said += "the program exited with " + std::to_string(WEXITSTATUS(how)) + "\n";
  return said;
#else
  return body();
#endif
}

}  // namespace detail
}  // namespace testing
TAUTLINE_END
#undef TAUTLINE_CAN_FORK
