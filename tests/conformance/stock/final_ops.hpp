// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/hooks/final_ops.hpp>

#include "tagged.hpp"

namespace conformance {

/// Shows that it has got its values.
template <tautline::fixed_string Id, tautline::fixed_string... Names>
class traced_final_ops : public tagged<Id, tautline::final_ops<Names...>> {
  using base = tagged<Id, tautline::final_ops<Names...>>;

 public:
  explicit traced_final_ops(world& played) : base({}), world_(&played) {}

  void end(auto& session, tautline::life& life) {
    base::end(session, life);
    if (!this->ready()) return;
    this->trace_act(*world_, life.step());
    (check<Names>(), ...);
  }

 private:
  template <tautline::fixed_string Name>
  void check() {
    if (this->template get<Name>() == untouched) world_->complain("final_ops has not fetched %s", tautline::name_of<Name>);
  }

  world* world_;
};

}  // namespace conformance
