// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core.hpp>

// The least that the library asks of its users' types, each with nothing to spare.

namespace archetypes {

/// The smallest backend: it runs, and has one value.
struct minimal_backend {
  template <class Request>
  tautline::status run(Request const&) {
    return {};
  }
  template <tautline::fixed_string Name>
  float value() const {
    return 0.5f;
  }
};

/// The smallest hook.
struct minimal_hook {
  void close() {}
};

}  // namespace archetypes
