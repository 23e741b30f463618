// SPDX-License-Identifier: BSL-1.0
// How long a saving blocks the step, against a memcpy of the same bytes: 64 MiB of variables, written in the
// background.
//
// usage: saving FOLDER. Prints lines "name value".
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <time.h>

#include <tautline/core.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/io/background_checkpoints.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

namespace {

constexpr std::size_t count = std::size_t{16} << 20;  // floats
constexpr int repetitions = 9;

/// This thread's time on the processor: other programs do not count. Nothing in a saving waits, but for room.
double milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 2];
}

}  // namespace

int main(int arguments, char** words) {
  if (arguments != 2) return 2;
  std::vector<float> weights(count);
  for (std::size_t i = 0; i < count; ++i) weights[i] = static_cast<float>(i % 1000) * 0.001F;
  std::vector<float> copy(weights);

  background_checkpoints saved(std::string(words[1]) + "/checkpoints", keep_latest{2});
  auto session = monitored(static_graph{}.variable<"w">(weights).update<"train", "w">(
                               [](std::vector<float>& w) { w[0] += 1; }),
                           checkpoint_saver{saved, every_steps{2}});

  std::vector<double> copying, blocked, idle;
  for (int i = 0; i < repetitions; ++i) {
    double start = milliseconds();
    std::memcpy(copy.data(), weights.data(), count * sizeof(float));
    copying.push_back(milliseconds() - start);
    asm volatile("" : : "r"(copy.data()) : "memory");

    start = milliseconds();
    (void)session.run(target<"train">);  // not due
    idle.push_back(milliseconds() - start);

    start = milliseconds();
    (void)session.run(target<"train">);  // due
    blocked.push_back(milliseconds() - start);
    (void)saved.finish();  // the next measurement has the machine for itself
  }
  std::printf("64MiB/memcpy_ms %.3f\n", median(copying));
  std::printf("64MiB/step_not_due_ms %.4f\n", median(idle));
  std::printf("64MiB/step_due_ms %.3f\n", median(blocked));
  std::printf("64MiB/step_due_over_memcpy %.3f\n", median(blocked) / median(copying));
  std::printf("64MiB/best_step_due_over_best_memcpy %.3f\n",
              *std::min_element(blocked.begin(), blocked.end()) / *std::min_element(copying.begin(), copying.end()));
  return saved.left_out() == 0 ? 0 : 1;
}
