// SPDX-License-Identifier: BSL-1.0
//
// A hook in ten lines: it asks for the loss in each run, keeps the best one, and stops the loop when there has been no
// better one for a while. A hook is any class with one of the callbacks; there is nothing to derive from.

#include <cstdio>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

struct stop_when_flat {
  int patience;
  float best = 1e30F;
  int bad = 0;
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto& ctx, auto& values) {
    float const loss = values[fetch<"loss">];
    bad = loss < best * 0.999F ? 0 : bad + 1;
    if (loss < best) best = loss;
    if (bad == patience) ctx.request_stop({"no better loss than {} in {} steps", best, patience});
  }
};

int main() {
  // Gradient descent on (w - 3)² + 1.
  auto graph = static_graph{}
                   .variable<"w">(0.0F)
                   .op<"loss", "w">([](float w) { return (w - 3) * (w - 3) + 1; })
                   .update<"train", "w">([](float& w) { w -= 0.1F * 2 * (w - 3); });
  auto session = monitored(graph, stop_when_flat{.patience = 5});
  completion const done = session.run_to_completion(target<"train">);

  char reason[100];
  done.stop.reason.write_to(reason, sizeof reason);
  std::printf("%s stopped the loop at step %d: %s\n", done.stop.by, static_cast<int>(done.stop.step), reason);
}
