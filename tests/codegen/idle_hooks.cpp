// SPDX-License-Identifier: BSL-1.0
// What tensor_logger, summary_saver and checkpoint_saver leave on steps in which none of them is due: on a step of the
// size of a small dense layer, and on one that is hardly a step, where three triggers are a third of it.
//
// bound: layer_idle <= 1.05 * layer_none
// bound: tiny_idle <= 1.7 * tiny_none
// steps: 2000
// flags: -w -lfmt
#include <array>
#include <string_view>

#include <tautline/core.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/summary_saver.hpp>
#include <tautline/hooks/tensor_logger.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "variants.hpp"

using namespace tautline;

namespace {

struct nowhere {
  void add_scalar(std::string_view, double, step_number) {}
  static status save(training_state const&) { return {}; }
};
nowhere sink;

constexpr std::size_t width = 16;
using layer = std::array<std::array<float, width>, width>;
using row = std::array<float, width>;

struct count_up {
  int n = 0;
  bool operator()(row& out) {
    for (float& value : out) value = static_cast<float>(++n % 7);
    return true;
  }
  auto state() { return fields{field<"n">(n)}; }
};
struct count_up_one {
  int n = 0;
  bool operator()(float& out) {
    out = static_cast<float>(++n % 7);
    return true;
  }
  auto state() { return fields{field<"n">(n)}; }
};

auto dense() {
  return static_graph{}
      .variable<"w">(layer{})
      .source<"x">(row{}, count_up{})
      .op<"y", "w", "x">(row{}, [](row& y, layer const& w, row const& x) {
        for (std::size_t i = 0; i < width; ++i) {
          float sum = 0;
          for (std::size_t j = 0; j < width; ++j) sum += w[i][j] * x[j];
          y[i] = sum - 1;
        }
      })
      .op<"loss", "y">([](row const& y) {
        float sum = 0;
        for (float value : y) sum += value * value;
        return sum;
      })
      .update<"train", "w", "x", "y">([](layer& w, row const& x, row const& y) {
        for (std::size_t i = 0; i < width; ++i) {
          for (std::size_t j = 0; j < width; ++j) w[i][j] -= 0.001F * y[i] * x[j];
        }
      });
}
auto tiny() {
  return static_graph{}
      .variable<"w">(0.0F)
      .source<"x">(0.0F, count_up_one{})
      .op<"loss", "w", "x">([](float w, float x) { return (w - x) * (w - x); })
      .update<"train", "w", "x">([](float& w, float x) { w -= 0.1F * (w - x); });
}

template <class Graph, class... Hooks>
double run(Graph graph, step_number steps, Hooks... hooks) {
  auto session = monitored(graph, std::move(hooks)...);
  (void)session.run_steps(steps, target<"train">, fetch<"loss">);
  return static_cast<double>(session.raw()[fetch<"loss">]);
}
template <class Graph>
double run_idle(Graph graph, step_number steps) {
  every_steps const never_here{1'000'000'000};
  return run(graph, steps, tensor_logger<"loss">::with(never_here), summary_saver<"loss">::with(sink, never_here),
             checkpoint_saver{sink, never_here});
}

variant const all[] = {
    {"layer_none", [](step_number steps) { return run(dense(), steps); }},
    {"layer_idle", [](step_number steps) { return run_idle(dense(), steps); }},
    {"tiny_none", [](step_number steps) { return run(tiny(), steps); }},
    {"tiny_idle", [](step_number steps) { return run_idle(tiny(), steps); }},
};

}  // namespace

int main(int count, char** arguments) { return run_variants(all, count, arguments); }
