// SPDX-License-Identifier: BSL-1.0
//
// A hook as one function: `anneal` waits until the loss stands still, halves the rate that it feeds, waits on, and after
// three times asks for a stop. Each phase is a place in its text, not a flag in a class. Its frame lies in the session.

#include <cstdio>

#include <tautline/core.hpp>
#include <tautline/hooks/script.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

script_body anneal(script_context<value_of<"loss", float>, feed_of<"rate", float>, provides<"rate/used", float>> life) {
  float rate = 0.2F;
  for (int halved = 0; halved < 3; ++halved) {
    life.feed<"rate">(rate);
    float best = 1e30F;
    for (int waited = 0; waited < 4; ++waited) {
      float const loss = co_await life.next_value();
      life.publish<"rate/used">(rate);
      if (loss < 0.95F * best) best = loss, waited = 0;
    }
    std::printf("step %3d: no better than %.2e at rate %.2f\n", int(life.step()), double(best), double(rate));
    rate /= 2;
  }
  life.request_stop({"annealed down to {}", 2 * rate});
}

/// Another hook sees what the script publishes.
struct show_rate {
  float last = 0;
  auto before_run(auto&) { return fetch<"rate/used">; }
  void after_run(auto& ctx, auto& values) {
    float const rate = values[fetch<"rate/used">];
    if (rate != last) std::printf("step %3d: the rate is %.2f\n", int(ctx.step()), double(rate));
    last = rate;
  }
};

int main() {
  auto graph = static_graph{}
                   .variable<"w">(0.0F)
                   .placeholder<"rate">(0.1F)
                   .source<"noise">(0.0F, [state = 1U](float& noise) mutable {
                     state = state * 1664525U + 1013904223U;
                     noise = static_cast<float>(state >> 8) / 16777216.0F - 0.5F;
                     return true;
                   })
                   .op<"error", "w", "noise">([](float w, float noise) { return w - 3 + 0.1F * noise; })
                   .op<"loss", "error">([](float error) { return error * error; })
                   .update<"train", "w", "error", "rate">([](float& w, float error, float rate) { w -= rate * error; });

  auto session = monitored(graph, script<&anneal>::with(every_steps{5}), show_rate{});
  completion const done = session.run_to_completion(target<"train">);
  char words[120];
  done.stop.write_to(words, sizeof words);
  std::puts(words);
}
