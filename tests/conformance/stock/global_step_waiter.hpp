// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/hooks/global_step_waiter.hpp>

#include "tagged.hpp"

namespace conformance {

/// While somebody sleeps other workers make a step.
struct sleep_of_others {
  world* played;
  void operator()(std::uint32_t) const { ++played->steps_of_others; }
};

/// Shows when it has let the first run pass.
template <tautline::fixed_string Id>
class traced_global_step_waiter : public tagged<Id, tautline::global_step_waiter<sleep_of_others>> {
  using base = tagged<Id, tautline::global_step_waiter<sleep_of_others>>;

 public:
  traced_global_step_waiter(world& played, step_number wait_until_step)
      : base({wait_until_step, sleep_of_others{&played}}), world_(&played) {}

  void begin(auto& graph) {
    base::begin(graph);
    seen_ = false;
  }
  void before_run(auto& context) {
    base::before_run(context);
    if (!seen_) this->trace_act(*world_, context.session().step());
    seen_ = true;
  }

 private:
  world* world_;
  bool seen_ = false;
};

}  // namespace conformance
