// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/hooks/nan_checker.hpp>

#include "tagged.hpp"

namespace conformance {

/// Shows that it has met a value that is not finite; that it then fails or asks for a stop is seen by the consequences.
template <tautline::fixed_string Id, tautline::fixed_string... Names>
class traced_nan_checker : public tagged<Id, tautline::nan_checker<Names...>> {
  using base = tagged<Id, tautline::nan_checker<Names...>>;

 public:
  traced_nan_checker(world& played, tautline::on_nan policy)
      : base(tautline::nan_checker<Names...>(policy)), world_(&played) {}

  void after_run(auto& context, auto& values) {
    base::after_run(context, values);
    if (!(true && ... && std::isfinite(values[tautline::fetch<Names>]))) this->trace_act(*world_, context.step());
  }

 private:
  world* world_;
};

}  // namespace conformance
