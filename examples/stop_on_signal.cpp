// SPDX-License-Identifier: BSL-1.0
// A training that is asked to stop from outside: it finishes its step, says what it has come to, and ends in good order.
// In real life the signal comes from Ctrl-C or from a scheduler; here a timer of the system sends it.

#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include <tautline/core.hpp>
#include <tautline/hooks/stop_on_signal.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

namespace {

/// Saves nothing here, but this is where it would: after the last step, and after every hook's `end`.
struct last_words {
  using category = saver;
  static constexpr bool stateless = true;
  bool wanted = false;

  void end(auto&) { wanted = true; }
  [[nodiscard]] bool wants_save() const { return wanted; }
  void save(training_state const& state, life&) {
    wanted = false;
    std::printf("saved, %s\n", state.step() > 0 ? "some steps were made" : "nothing was done");
  }
};

}  // namespace

int main() {
  itimerval const in_a_moment{{0, 0}, {0, 20'000}};
  auto graph = static_graph{}.variable<"w">(0.0F).update<"train", "w">([](float& w) {
    w += 1;
    usleep(1000);  // a step
  });
  auto session = monitored(graph, stop_on_signal{SIGINT, SIGTERM, SIGALRM}, last_words{});
  setitimer(ITIMER_REAL, &in_a_moment, nullptr);

  auto const done = session.run_to_completion(target<"train">);
  session.close();

  char why[64];
  done.stop.reason.write_to(why, sizeof why);
  std::printf("stopped by %s: %s\n", done.stop.by, why);
  std::printf("every step was finished: %s\n",
              static_cast<step_number>(session.raw()[fetch<"w">]) == session.completed_steps() ? "yes" : "no");
}
