// SPDX-License-Identifier: BSL-1.0
#include <string>
#include <vector>

#include <tautline/hooks/evaluator.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "list.hpp"

namespace laws_of {
namespace {

auto training() {
  return training_of(
      [](script& plan) {
        return static_graph{}
            .variable<"w">(0.0)
            .source<"x">(0.0, scripted_source<"x">{&plan})
            .op<"loss", "w", "x">([](double w, double x) { return (w - x) * (w - x); })
            .update<"train", "w", "x">([](double& w, double x) { w -= 0.1 * (w - x); });
      },
      target<"train">);
}
auto held_out() {
  return datasets{dataset<"validation">([] { return std::vector<double>{1, 2, 4}; })};
}
auto const feeding = [](double x) { return feed<"x">(x); };

}  // namespace

law_report basic_evaluator() {
  return check_laws(
      [](output& out) {
        return tautline::basic_evaluator{every_steps{3} | at_end, held_out(), metrics<"loss">{}, feeding, equal_weights{},
                                         [&out](step_number step, evaluation const& found) {
                                           uncounted const by_the_kit;
                                           out.add_scalar("loss", found.values[0], step);
                                         }};
      },
      {.values = {{"x", jagged}}}, training());
}
law_report evaluator() {
  return check_laws(
      [](output& out) {
        return tautline::evaluator{every_steps{4}, held_out(), metrics<"loss">{}, feeding, equal_weights{}, {.log = out.sink(), .writer = out}};
      },
      {.values = {{"x", jagged}}}, training());
}

}  // namespace laws_of
