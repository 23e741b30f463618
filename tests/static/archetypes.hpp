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

/// The smallest graph that is no backend yet.
struct minimal_graph {
  minimal_backend finalize() && { return {}; }
};

/// The smallest hook.
struct minimal_hook {
  void close() {}
};

/// The smallest trigger: it fires in every run, and remembers nothing.
struct minimal_trigger {
  struct memory {};
  void restart(memory&, tautline::trigger_view const&) const {}
  bool due(memory const&, tautline::trigger_view const&) const { return true; }
  void looked(memory&, tautline::trigger_view const&, bool, bool) const {}
};

/// The smallest clock.
struct minimal_clock {
  unsigned short now() { return 0; }
  unsigned short ticks_per_second() { return 1; }
};

}  // namespace archetypes
