// SPDX-License-Identifier: BSL-1.0
#include <tautline/core.hpp>

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

struct stop_below {
  float bound;

  auto before_run(auto&) const { return tautline::fetch<"loss">; }
  void after_run(auto& ctx, auto const& values) const {
    if (values.template get<"loss">() < bound) ctx.request_stop("the loss is low");
  }
};

int main() {
  auto session = tautline::monitored(backend{}, stop_below{0.1f});
  auto const done = session.run_to_completion(tautline::target<"train">);
  return done && done.steps == 4 ? 0 : 1;
}
