// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/hooks/stop_at_step.hpp>

#include "tagged.hpp"

namespace conformance {

/// Shows when it asks for a stop. Where somebody has asked before, nothing can be seen of that: there its own target
/// tells.
template <tautline::fixed_string Id>
class traced_stop_at_step : public tagged<Id, tautline::stop_at_step> {
  using base = tagged<Id, tautline::stop_at_step>;

 public:
  traced_stop_at_step(world& played, tautline::stop_at_step hook) : base(hook), world_(&played) {}

  void after_create_session(auto& session, tautline::life& life) {
    watch(life, session.step(), [&] { base::after_create_session(session, life); });
  }
  void after_run(tautline::run_context_base& context) {
    watch(context, context.step(), [&] { base::after_run(context); });
  }

 private:
  void watch(tautline::life& life, step_number step, auto call) {
    bool const before = life.stop_requested();
    call();
    if (before ? step >= this->target() : life.stop_requested()) this->trace_act(*world_, step);
  }

  world* world_;
};

}  // namespace conformance
