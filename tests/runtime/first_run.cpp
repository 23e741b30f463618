// SPDX-License-Identifier: BSL-1.0
#include <vector>

#include <doctest/doctest.h>

#include <tautline/core.hpp>

#include "../static/archetypes.hpp"

namespace {

struct stop_after {
  long last;
  std::vector<long>* seen;

  auto before_run(auto&) const { return tautline::fetch<"loss">; }
  void after_run(auto& ctx, auto const& values) const {
    seen->push_back(static_cast<long>(ctx.step()));
    CHECK(values.template get<"loss">() == 0.5f);
    if (ctx.step() >= last) ctx.request_stop("the last step");
  }
};

TEST_CASE("a hook sees each step until it asks for a stop") {
  std::vector<long> seen;
  auto session = tautline::monitored(archetypes::minimal_backend{}, stop_after{3, &seen});
  auto const done = session.run_to_completion(tautline::target<"train">);
  CHECK(done);
  CHECK(done.steps == 3);
  CHECK(seen == std::vector<long>{1, 2, 3});
}

}  // namespace
