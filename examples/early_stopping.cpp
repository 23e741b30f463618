// SPDX-License-Identifier: BSL-1.0
// Stops when the loss on held-out data no longer falls. Five hooks work together: a schedule feeds the rate, the
// variables are averaged, an evaluator looks at the averages and publishes what it found, and that is what the training
// stops by.

#include <array>
#include <cstdio>
#include <functional>
#include <utility>

#include <tautline/core.hpp>
#include <tautline/hooks/basic_evaluator.hpp>
#include <tautline/hooks/early_stopping.hpp>
#include <tautline/hooks/ema.hpp>
#include <tautline/hooks/learning_rate_schedule.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

namespace {

struct point {
  float x, y;
};
/// y = 2 x + 1 and noise.
struct points {
  unsigned state = 1;
  bool operator()(point& next) {
    auto const uniform = [&] { return static_cast<float>((state = state * 1664525U + 1013904223U) >> 8) / 16777216.0F; };
    next.x = uniform();
    next.y = 2 * next.x + 1 + 0.4F * (uniform() - 0.5F);
    return true;
  }
};

}  // namespace

int main() {
  std::array<point, 200> held_out{};
  points others{7};
  for (point& each : held_out) (void)others(each);

  auto graph = static_graph{}
                   .variable<"slope">(0.0F)
                   .variable<"offset">(0.0F)
                   .placeholder<"rate">(0.1F)
                   .source<"point">(point{}, points{})
                   .op<"error", "slope", "offset", "point">([](float a, float b, point const& p) { return a * p.x + b - p.y; })
                   .op<"loss", "error">([](float error) { return error * error; })
                   .update<"train", "slope", "offset", "point", "error", "rate">(
                       [](float& a, float& b, point const& p, float error, float rate) {
                         a -= rate * error * p.x;
                         b -= rate * error;
                       });

  auto averages = ema(graph, {.decay = 0.98, .bias_correction = true});
  auto validation = basic_evaluator{every_steps{100}, datasets{dataset<"held-out">([&]() -> auto const& { return held_out; })},
                                    metrics<"loss">{}, [](point const& p) { return feed<"point">(p); }};
  using stopping = stop_if_no_decrease<"held-out/loss">;

  schedules::cosine const falling{.initial = 0.3, .last = 0.01, .steps = 3000, .warm_up = 50};
  auto session = monitored(graph, learning_rate_schedule<"rate">(falling), std::ref(averages),
                           on_averages(averages, std::move(validation)),
                           stopping{{.patience = 5, .min_delta = 0.01, .relative = true}});
  auto const done = session.run_to_completion(target<"train">);

  char why[96];
  done.stop.reason.write_to(why, sizeof why);
  std::printf("stopped at step %d: %s\n", static_cast<int>(done.steps), why);
  auto const& stopper = session.hook<stopping>();
  std::printf("best at step %d of %d looks\n", static_cast<int>(stopper.best_step()), static_cast<int>(stopper.looks()));
  std::printf("slope %.2f, offset %.2f on average\n", static_cast<double>(averages.get<"slope">()),
              static_cast<double>(averages.get<"offset">()));
}
