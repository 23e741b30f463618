// SPDX-License-Identifier: BSL-1.0
// Two checks that look at a run before it changes a variable. One element of the input is broken: its update is left out.
// From step 61 on the data are such that the rate is too large: the loss leaps up, and the training goes back to the latest
// checkpoint and on with half the rate.

#include <cstdio>
#include <limits>

#include <tautline/core.hpp>
#include <tautline/hooks/learning_rate_schedule.hpp>
#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/spike_checker.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/sessions/static_graph.hpp>
#include <tautline/testing/memory_store.hpp>

using namespace tautline;

/// A target near 3, and how much it counts. It knows where it stands, so that the training can go back.
struct sample {
  float target;
  float weight;
};
struct samples {
  int at = 0;
  bool operator()(sample& next) {
    ++at;
    next.target = at == 8 ? std::numeric_limits<float>::quiet_NaN() : at % 2 == 0 ? 3.1F : 2.9F;
    next.weight = at > 60 ? 3.0F : 1.0F;
    return true;
  }
  auto state() { return fields{field<"at">(at)}; }
};

/// Says what the checks did.
struct narrator {
  static constexpr bool stateless = true;

  void on_error(error const& happened) const {
    char words[200];
    happened.message.write_to(words, sizeof words);
    std::printf("step %d: %s\n", int(happened.step), words);
  }
  void after_create_session(auto& session) const { std::printf("a session at step %d\n", int(session.step())); }
  auto before_run(auto&) const { return fetch<"rate">; }
  void after_run(auto& ctx, auto const& values) const {
    if (ctx.vetoed()) std::printf("step %d: left out\n", int(ctx.step()));
    if (ctx.step() % 20 == 0) std::printf("step %d: rate %.2f\n", int(ctx.step()), double(values[fetch<"rate">]));
  }
};

int main() {
  auto graph = static_graph{}
                   .variable<"w">(0.0F)
                   .placeholder<"rate">(0.0F)
                   .source<"sample">(sample{}, samples{})
                   .op<"loss", "w", "sample">([](float w, sample const& of) { return of.weight * (w - of.target) * (w - of.target); })
                   .update<"train", "w", "sample", "rate">([](float& w, sample const& of, float rate) {
                     w -= rate * 2 * of.weight * (w - of.target);
                   });
  testing::memory_store store;  // a training that is to outlive its process has a checkpoint_store
  auto session = monitored(graph, options{restore_from{store}}, stop_at_step{100}, nan_checker<"loss">::with(skip_at_most{3}),
                           spike_checker<"loss">::with(roll_back_at_most{2, 0.5}, {.warm_up = 30}),
                           learning_rate_schedule<"rate", "rate_scale">(schedules::constant{0.4}),
                           testing::memory_saver{store, every_steps{20}}, narrator{});
  session.run_to_completion(target<"train">);
  std::printf("w is %.1f after %d steps, one of them left out: %d\n", double(session.raw()[fetch<"w">]), int(session.completed_steps()),
              int(session.hook<basic_nan_checker<skip_at_most, "loss">>().skipped()));
}
