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

/// The smallest backend that can make a run in two parts.
struct minimal_staging_backend : minimal_backend {
  template <class Request>
  tautline::status stage(Request const&) {
    return {};
  }
  template <class Request>
  tautline::status commit(Request const&) {
    return {};
  }
  template <class Request, tautline::fixed_string Name>
  static consteval bool is_late() {
    return false;
  }
};

/// The smallest thing that restores: it never finds anything.
struct minimal_restorer {
  tautline::restored restore(tautline::training_state const&) { return {}; }
};

/// The smallest hook that saves.
struct minimal_saver {
  using category = tautline::saver;
  static constexpr bool stateless = true;
  void after_run(auto&) {}
  bool wants_save() { return false; }
  void save(tautline::training_state const&, tautline::life&) {}
};

/// The smallest hook that watches.
struct minimal_watcher {
  void on_enter(tautline::moment const&) noexcept {}
  void on_leave(tautline::moment const&) noexcept {}
};

/// The smallest class of a tensor.
struct minimal_tensor {
  float numbers[6] = {};
};

}  // namespace archetypes

template <>
struct tautline::tensor_traits<archetypes::minimal_tensor> {
  static constexpr element_type type = element_type::F32;
  static constexpr std::uint8_t rank = 2;
  static void* data(archetypes::minimal_tensor& value) { return value.numbers; }
  static void shape(archetypes::minimal_tensor const&, std::int64_t* out) { out[0] = 2, out[1] = 3; }
};
