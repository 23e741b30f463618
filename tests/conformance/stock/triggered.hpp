// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "tagged.hpp"

namespace conformance {

/// A hook that has a trigger, as users write one: the session tells it when it is due.
template <tautline::fixed_string Id, class Trigger>
class triggered {
 public:
  using tags = tautline::hooks<id_tag<Id>>;
  static constexpr bool stateless = true;
  triggered(world& played, Trigger given) : trigger(given), world_(&played) {}

  void after_run(auto& context) {
    if (context.due()) trace_act(context.step());
  }
  void end(auto& session, tautline::life& life) {
    if (life.due()) trace_act(session.step());
  }

  Trigger trigger;

 private:
  void trace_act(step_number step) {
    world_->trace("act %s step=%lld", tautline::name_of<Id>, static_cast<long long>(step));
  }
  world* world_;
};
template <tautline::fixed_string Id, class Trigger>
auto made_triggered(world& played, Trigger trigger) {
  return triggered<Id, Trigger>(played, trigger);
}

}  // namespace conformance
