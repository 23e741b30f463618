// SPDX-License-Identifier: BSL-1.0
#include <string>

#include <tautline/hooks/early_stopping.hpp>
#include <tautline/hooks/on_rank_zero.hpp>
#include <tautline/hooks/pipeline.hpp>
#include <tautline/hooks/script.hpp>
#include <tautline/hooks/triggered.hpp>

#include "list.hpp"

namespace laws_of {
namespace {

struct report {
  static constexpr bool stateless = true;
  using asks = fetches<"loss">;
  output* out;
  void on_trigger(life& at, since_triggered const&, auto const& values) const {
    out->add_scalar("loss", values[fetch<"loss">], at.step());
  }
};

struct patience {
  double best = 1e9;
  int waited = 0;
  auto state() { return fields{field<"best">(best), field<"waited">(waited)}; }
};
script_body plateau(script_context<value_of<"loss", double>, state_of<patience>> life) {
  auto& kept = life.state<patience>();
  while (kept.waited < 3) {
    double const loss = co_await life.next_value();
    kept.waited = loss < kept.best ? 0 : kept.waited + 1;
    if (loss < kept.best) kept.best = loss;
  }
  life.request_stop("plateau");
}

}  // namespace

law_report script_with_state() {
  return check_laws([] { return tautline::script<&plateau>{}; }, {.values = {{"loss", jagged}}});
}
law_report pipeline_that_stops() {
  return check_laws([] { return observe<"loss">() | smooth(0.5) | where(below(0.45)) | for_times(2) | request_stop("down to {}"); },
                    {.values = {{"loss", jagged}}});
}
law_report pipeline_that_writes() {
  return check_laws(
      [](output& out) {
        return observe<"loss">() | delta() | window<3>([](auto const& of) { return of.mean(); }) | every_steps{2} |
               call([&out](life& at, double mean) { out.add_scalar("mean", mean, at.step()); });
      },
      {.values = {{"loss", jagged}}});
}
law_report triggered() {
  return check_laws([](output& out) { return tautline::triggered{report{&out}, every_steps{3}}; });
}
law_report on_rank_zero() {
  return check_laws([] { return tautline::on_rank_zero{0, tautline::stop_if_no_decrease<"loss">{{.patience = 3}}}; },
                    {.values = {{"loss", jagged}}});
}

}  // namespace laws_of
