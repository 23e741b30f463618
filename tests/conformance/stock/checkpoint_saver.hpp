// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/hooks/checkpoint_saver.hpp>

#include "tagged.hpp"

namespace conformance {

/// The library's saver over the scripted session's one checkpoint. That it has decided to save is seen by what it wants.
template <tautline::fixed_string Id, class Trigger, class... Parts>
class traced_checkpoint_saver : public tagged<Id, tautline::checkpoint_saver<world, Trigger, Parts...>> {
  using base = tagged<Id, tautline::checkpoint_saver<world, Trigger, Parts...>>;

 public:
  traced_checkpoint_saver(world& played, Trigger trigger, Parts... parts)
      : base(tautline::checkpoint_saver<world, Trigger, Parts...>(played, trigger, parts...)), world_(&played) {}

  void after_create_session(auto& session, tautline::life& life) {
    auto const before = this->saved();
    base::after_create_session(session, life);
    if (this->saved() != before) this->trace_act(*world_, session.step());
  }
  void after_run(auto& context) {
    base::after_run(context);
    if (this->wants_save()) this->trace_act(*world_, context.step());
  }
  void end(auto& session, tautline::life& life) {
    base::end(session, life);
    if (this->wants_save()) this->trace_act(*world_, session.step());
  }

 private:
  world* world_;
};
template <tautline::fixed_string Id, class Trigger, class... Parts>
auto made_checkpoint_saver(world& played, Trigger trigger, Parts... parts) {
  return traced_checkpoint_saver<Id, Trigger, Parts...>(played, trigger, parts...);
}

}  // namespace conformance
