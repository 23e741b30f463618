// SPDX-License-Identifier: BSL-1.0
#include <array>

#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/spike_checker.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "list.hpp"

namespace laws_of {
namespace {

auto training() {
  return training_of(
      [](script& plan) {
        return static_graph{}
            .variable<"w">(std::array<double, 3>{})
            .source<"x">(0.0, scripted_source<"x">{&plan})
            .op<"gradient", "w", "x">([](std::array<double, 3> const& w, double x) {
              return std::array<double, 3>{w[0] - x, w[1] - 2 * x, w[2] - 3 * x};
            })
            .op<"loss", "gradient">([](std::array<double, 3> const& g) { return g[0] * g[0] + g[1] * g[1] + g[2] * g[2]; })
            .update<"train", "w", "gradient">([](std::array<double, 3>& w, std::array<double, 3> const& gradient) {
              for (std::size_t i = 0; i < 3; ++i) w[i] -= 0.1 * gradient[i];
            });
      },
      target<"train">);
}
law_options const falling{.values = {{"x", jagged}}};
/// At step 5 the loss leaps up.
law_options const leaping{.values = {{"x", [](long at) { return at == 5 ? 1e6 : 1.0 / static_cast<double>(at); }}}};

}  // namespace

law_report nan_checker() {
  return check_laws([] { return tautline::nan_checker<"loss">{on_nan::stop}; }, {.values = {{"loss", jagged}}});
}
law_report nan_checker_of_array() {
  return check_laws([] { return tautline::nan_checker<"gradient", "loss">{}; }, falling, training());
}
law_report nan_checker_that_skips() {
  return check_laws([] { return tautline::nan_checker<"gradient">::with(skip_at_most{2}); }, falling, training());
}
law_report nan_checker_that_goes_back() {
  return check_laws([] { return tautline::nan_checker<"gradient">::with(roll_back_at_most<>{2}); }, falling, training());
}
law_report spike_checker() {
  return check_laws([] { return tautline::spike_checker<"loss">{on_nan::stop, {.warm_up = 3}}; }, {.values = {{"loss", jagged}}});
}
law_report spike_checker_that_skips() {
  return check_laws([] { return tautline::spike_checker<"loss">::with(skip_at_most{2}, {.warm_up = 3}); }, leaping, training());
}
law_report together_checking() {
  return check_laws(together([] { return tautline::spike_checker<"loss">::with(skip_at_most{2}, {.warm_up = 3}); },
                             [] { return tautline::nan_checker<"gradient">::with(roll_back_at_most<>{2}); },
                             [] { return tautline::nan_checker<"loss">{}; }),
                    leaping, training());
}

}  // namespace laws_of
