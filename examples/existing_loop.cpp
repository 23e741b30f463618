// SPDX-License-Identifier: BSL-1.0
//
// A loop that exists already gets hooks, in two ways: its body becomes a function that returns named values
// (step_function), or the loop stays where it is and pushes its values into the session (pushed_values).

#include <cstdio>
#include <optional>

#include <tautline/core.hpp>
#include <tautline/sessions/step_function.hpp>

using namespace tautline;

// The code that was there before: a root of x² = 2 by Newton's method.
struct newton {
  double x = 2;
  double step() {
    double const error = x * x - 2;
    x -= error / (2 * x);
    return error;
  }
};

struct error_printer {
  auto before_run(auto&) { return fetch<"error">; }
  void after_run(auto& ctx, auto& values) {
    double const error = values[fetch<"error">];
    std::printf("  step %d: error %.3g\n", int(ctx.step()), error);
    if (error < 1e-9) ctx.request_stop("close enough");
  }
};

int main() {
  std::puts("the body as a function:");
  newton first;
  auto session = monitored(step_function([&] { return named_values{value<"error">(first.step())}; }), error_printer{});
  (void)session.run_to_completion();
  std::printf("  %.9f, stopped by %s\n", first.x, session.stop().by);

  std::puts("the same with an end of input after 2 steps:");
  newton second;
  int left = 2;
  auto limited = monitored(step_function([&] {
                             return left-- > 0 ? std::optional{named_values{value<"error">(second.step())}} : std::nullopt;
                           }),
                           error_printer{});
  (void)limited.run_to_completion();
  std::printf("  %.9f, stopped by %s\n", second.x, limited.stop().by);

  std::puts("the loop stays, and pushes:");
  newton third;
  auto pushed = monitored(pushed_values<named_value<"error", double>>{}, error_printer{});
  while (!pushed.should_stop()) {
    (void)pushed.step([&](auto& values) {
      double const error = third.step();
      if (values.template wants<"error">()) values.template set<"error">(error);
    });
  }
  std::printf("  %.9f, stopped by %s\n", third.x, pushed.stop().by);
}
