// SPDX-License-Identifier: BSL-1.0
//
// The steps of a session as an input range, with the views of the standard library. It is lazy: `take(n)` makes n runs.
// `filter` and `take` together read on to the next match.

#include <cstdio>
#include <ranges>

#include <tautline/adapt/ranges.hpp>
#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

int main() {
  auto graph = static_graph{}
                   .variable<"w">(0.0F)
                   .op<"loss", "w">([](float w) { return (w - 3) * (w - 3); })
                   .update<"train", "w">([](float& w) { w -= 0.05F * 2 * (w - 3); });
  auto session = monitored(graph);

  std::puts("three steps:");
  for (auto const& step : session.steps(target<"train">, fetch<"loss">) | std::views::take(3)) {
    std::printf("  step %d: loss %.3f\n", int(step.step()), double(step[fetch<"loss">]));
  }
  std::printf("%d steps completed\n", int(session.completed_steps()));

  std::puts("the loss of every second step, until it is below 1:");
  auto losses = session.steps(target<"train">, fetch<"loss">)                                //
                | std::views::filter([](auto const& step) { return step.step() % 2 == 0; })  //
                | std::views::transform([](auto const& step) { return step[fetch<"loss">]; })  //
                | std::views::take_while([](float loss) { return loss >= 1; });
  for (float const loss : losses) std::printf("  loss %.3f\n", double(loss));
  std::printf("%d steps completed\n", int(session.completed_steps()));
}
