// SPDX-License-Identifier: BSL-1.0
//
// Recovery: a backend whose connection breaks twice in a row, and a third time for good. The session makes it anew, with
// longer waits; a run that succeeded is never repeated. The waiting is done by a function that is handed in: here it
// only prints, so the example takes no time.

#include <cstdint>
#include <cstdio>

#include <tautline/core.hpp>

using namespace tautline;

// The smallest backend: `run`, and here `open` and `close`, which are called again in a recovery.
struct remote_model {
  int calls = 0;
  int steps = 0;
  using fetchable = names<"steps">;

  void open() { std::puts("  session made"); }
  void close() { std::puts("  session closed"); }
  status run(auto const&) {
    ++calls;
    bool const broken = calls == 3 || calls == 4 || calls >= 7;
    if (broken) return {error_kind::unavailable, "the server does not answer"};
    ++steps;
    return {};
  }
  template <fixed_string>
  int const& value() {
    return steps;
  }
};

struct watcher {
  void on_error(error const& happened) {
    char words[200];
    happened.write_to(words, sizeof words);
    std::printf("  on_error: %s\n", words);
  }
  auto before_run(auto&) { return fetch<"steps">; }
  void after_run(auto& ctx, auto& values) {
    std::printf("step %d done, the server has made %d\n", int(ctx.step()), values[fetch<"steps">]);
  }
};

int main() {
  // The waits are 100 ms, doubled each time, less up to half by jitter.
  std::uint32_t longest = 0;
  auto sleep = [&](std::uint32_t milliseconds) {
    longest = milliseconds > longest ? milliseconds : longest;
    std::puts("  waiting");
  };
  auto session = monitored(remote_model{}, options{with_sleep{sleep}, max_recoveries{2}}, watcher{});
  completion const done = session.try_run_to_completion();  // errors as values; run_to_completion would throw
  std::printf("%d steps, then the error was final: %s\n", int(done.steps), to_string(done.error));
  std::printf("waits were %s\n", longest > 100 && longest <= 200 ? "up to 200 ms" : "not what they should be");
}
