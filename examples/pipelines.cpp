// SPDX-License-Identifier: BSL-1.0
//
// Four hooks in four expressions: a log, a smoothed loss that is published, a stop when that stands still, and a guard.
// A pipeline costs what its statements would cost in the loop's body.

#include <cstdio>
#include <utility>

#include <tautline/core.hpp>
#include <tautline/hooks/pipeline.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

int main() {
  auto graph = static_graph{}
                   .variable<"w">(0.0F)
                   .source<"noise">(0.0F, [state = 1U](float& noise) mutable {
                     state = state * 1664525U + 1013904223U;
                     noise = static_cast<float>(state >> 8) / 16777216.0F - 0.5F;
                     return true;
                   })
                   .op<"error", "w", "noise">([](float w, float noise) { return w - 3 + 0.1F * noise; })
                   .op<"loss", "error">([](float error) { return error * error; })
                   .update<"train", "w", "error">([](float& w, float error) { w -= 0.05F * error; });

  auto log = observe<"loss", "w">() | (every_steps{25} | at_end) | call([](auto& ctx, float loss, float w) {
               std::printf("step %3d: loss %.4f, w %.3f\n", int(ctx.step()), double(loss), double(w));
             });
  auto average = observe<"loss">() | smooth(0.95F) | publish<"average", float>();
  auto standstill = observe<"average">() | every_steps{10} | delta<float>() | where(above(-0.001F)) | for_times(3) |
                    request_stop("the average moves by {} only");
  auto guard = observe<"loss">() | where([](float loss) { return !(loss < 100); }) |
               fail(error_kind::nan, "the loss is {}");

  auto session = monitored(graph, std::move(log), named<"standstill">(std::move(standstill)), std::move(average),
                           named<"guard">(std::move(guard)));
  completion const done = session.run_to_completion(target<"train">);
  session.close();
  char words[120];
  done.stop.write_to(words, sizeof words);
  std::puts(words);
}
