// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/hooks/triggered.hpp>

#include "tagged.hpp"

namespace conformance {

/// A hook that the library's `triggered` tells when it is due.
template <tautline::fixed_string Id>
struct acting {
  using tags = tautline::hooks<id_tag<Id>>;
  static constexpr bool stateless = true;
  world* played;

  void on_trigger(auto& context, tautline::since_triggered const&) const {
    played->trace("act %s step=%lld", tautline::name_of<Id>, static_cast<long long>(context.step()));
  }
};
template <tautline::fixed_string Id, class Trigger>
auto made_triggered(world& played, Trigger trigger) {
  return tautline::triggered(acting<Id>{&played}, trigger);
}

}  // namespace conformance
