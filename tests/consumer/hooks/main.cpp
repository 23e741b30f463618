// SPDX-License-Identifier: BSL-1.0
#include <fmt/format.h>
#include <range/v3/view/take.hpp>

#include <tautline/adapt/range_v3.hpp>
#include <tautline/tautline.hpp>

struct halving {
  float loss = 1.0f;

  template <class Request>
  tautline::status run(Request const&) {
    loss *= 0.5f;
    return {};
  }
  template <tautline::fixed_string Name>
  float value() const {
    return loss;
  }
};

struct closing_line {
  void close() const { fmt::print("closed\n"); }
};

int main() {
  using namespace tautline;
  auto session = monitored(halving{}, stop_at_step{5}, tensor_logger<"loss">{every_steps{2}}, closing_line{});
  int runs = 0;
  for (auto const& step : session.steps(target<"train">) | ranges::views::take(3)) {
    runs += step.step() > 0 ? 1 : 0;
  }
  return runs == 3 && session.run_to_completion(target<"train">).steps == 5 ? 0 : 1;
}
