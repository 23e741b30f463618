// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../probe.hpp"

namespace conformance {

template <class Hook, tautline::fixed_string Id>
struct tags_with_id {
  using type = tautline::hooks<id_tag<Id>>;
};
template <tautline::fixed_string Id, class... Tags>
auto add_tag(tautline::hooks<Tags...>) -> tautline::hooks<Tags..., id_tag<Id>>;
template <class Hook, tautline::fixed_string Id>
  requires requires { typename Hook::tags; }
struct tags_with_id<Hook, Id> {
  using type = decltype(add_tag<Id>(typename Hook::tags{}));
};

/// A hook of the library, as it is, which relations find by its id. What it declares (trigger, category, tags, what it
/// asks for) is inherited; traced adapters derive from this and watch single callbacks.
template <tautline::fixed_string Id, class Hook>
class tagged : public Hook {
 public:
  using tags = typename tags_with_id<Hook, Id>::type;
  explicit tagged(Hook hook) : Hook(static_cast<Hook&&>(hook)) {}

 protected:
  static void trace_act(world& played, step_number step) {
    played.trace("act %s step=%lld", tautline::name_of<Id>, static_cast<long long>(step));
  }
};
template <tautline::fixed_string Id, class Hook>
tagged<Id, Hook> tag(Hook hook) {
  return tagged<Id, Hook>(static_cast<Hook&&>(hook));
}

}  // namespace conformance
