// SPDX-License-Identifier: BSL-1.0
#include <vector>

#include <tautline/hooks/ema.hpp>
#include <tautline/hooks/ema_on_heap.hpp>
#include <tautline/hooks/learning_rate_schedule.hpp>
#include <tautline/hooks/nan_checker.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "list.hpp"

namespace laws_of {
namespace {

auto graph_of(script& plan) {
  return static_graph{}
      .variable<"w">(std::vector<double>(3))
      .variable<"b">(0.0F)
      .placeholder<"rate">(0.25)
      .source<"x">(0.0, scripted_source<"x">{&plan})
      .op<"error", "w", "b", "x">([](std::vector<double> const& w, float b, double x) { return w[0] + w[1] + w[2] + double(b) - x; })
      .update<"train", "w", "b", "error", "rate">([](std::vector<double>& w, float& b, double error, double rate) {
        for (std::size_t i = 0; i < 3; ++i) w[i] -= rate * error / static_cast<double>(i + 1);
        b -= static_cast<float>(rate * error);
      });
}
auto training() { return training_of([](script& plan) { return graph_of(plan); }, target<"train">); }

}  // namespace

law_report ema() {
  return check_laws(
      [](output& out) {
        auto graph = graph_of(out.plan());
        return tautline::ema(graph, {.decay = 0.9, .bias_correction = true}, every_steps{2});
      },
      {.values = {{"x", jagged}}}, training());
}
law_report ema_on_heap() {
  return check_laws([] { return tautline::ema_on_heap{{.decay = 0.9}}; }, {.values = {{"x", jagged}}}, training());
}
law_report together_averaging() {
  return check_laws(together([] { return tautline::nan_checker<"error">::with(roll_back_at_most<>{2}); },
                             [] { return tautline::learning_rate_schedule<"rate", "rate_scale">(schedules::exponential{.initial = 0.2, .factor = 0.5, .every = 4}); },
                             [](output& out) {
                               auto graph = graph_of(out.plan());
                               return tautline::ema<"w">(graph, {.decay = 0.8});
                             }),
                    {.values = {{"x", jagged}}}, training());
}

}  // namespace laws_of
