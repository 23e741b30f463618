// SPDX-License-Identifier: BSL-1.0
//
// The steps of a session as an input range, with the views of range-v3 (single headers: all of it costs seconds to
// compile): a moving mean of the loss over windows of three steps, and a stop when it is low enough.

#include <cstdio>

#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/view/chunk.hpp>
#include <range/v3/view/transform.hpp>

#include <tautline/adapt/range_v3.hpp>
#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

int main() {
  auto graph = static_graph{}
                   .variable<"w">(0.0F)
                   .op<"loss", "w">([](float w) { return (w - 3) * (w - 3); })
                   .update<"train", "w">([](float& w) { w -= 0.05F * 2 * (w - 3); });
  auto session = monitored(graph);

  std::puts("mean loss of three steps:");
  auto losses = session.steps(target<"train">, fetch<"loss">) |
                ranges::views::transform([](auto const& step) { return step[fetch<"loss">]; });
  for (auto&& three : losses | ranges::views::chunk(3)) {
    float const mean = ranges::accumulate(three, 0.0F) / 3;
    std::printf("  up to step %d: %.3f\n", int(session.completed_steps()), double(mean));
    if (mean < 0.5F) session.request_stop("low enough");
  }
  std::printf("stopped by %s at step %d\n", session.stop().by, int(session.stop().step));
}
