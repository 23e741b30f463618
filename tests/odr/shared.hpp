// SPDX-License-Identifier: BSL-1.0
#pragma once

#ifdef TAUTLINE_UMBRELLA
#include <tautline/tautline.hpp>
#else
#include <tautline/core.hpp>
#endif

#include "../static/archetypes.hpp"

struct stop_at_three {
  void after_run(auto& ctx) const {
    if (ctx.step() >= 3) ctx.request_stop("three steps are enough");
  }
};

/// Runs a session in this translation unit. @return how many steps it made
inline long run_here() {
  auto session = tautline::monitored(archetypes::minimal_backend{}, stop_at_three{});
  return static_cast<long>(session.run_to_completion(tautline::target<"train">).steps);
}

char const* name_in_second();
long steps_in_second();
