// SPDX-License-Identifier: BSL-1.0
#include <fmt/format.h>
#include <range/v3/view/take.hpp>

#include <tautline/core.hpp>
#if __has_include(<tautline/adapt/ranges.hpp>)
#include <tautline/adapt/ranges.hpp>
#define HAS_RANGES 1
#endif

struct backend {
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
  auto session = tautline::monitored(backend{}, closing_line{});
  int runs = 0;
#ifdef HAS_RANGES
  for (auto const& step : session.steps(tautline::target<"train">) | ranges::views::take(3)) {
    runs += step.step() > 0 ? 1 : 0;
  }
#else
  for (auto const& step : session.steps(tautline::target<"train">)) {
    if (++runs == 3) break;
    (void)step;
  }
#endif
  return runs == 3 ? 0 : 1;
}
