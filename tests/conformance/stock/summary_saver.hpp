// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>

#include <tautline/hooks/summary_saver.hpp>

#include "tagged.hpp"

namespace conformance {

/// A writer that traces the first scalar of each step as an act.
struct tracing_writer {
  world* played;
  char const* id;
  step_number last = -1;
  void add_scalar(std::string_view, double, step_number step) {
    if (step != last) played->trace("act %s step=%lld", id, static_cast<long long>(step));
    last = step;
  }
  void mark_restart(step_number) { last = -1; }
};

template <tautline::fixed_string Id, tautline::fixed_string... Names, class Trigger>
auto made_summary_saver(world& played, Trigger trigger) {
  auto writer = std::make_shared<tracing_writer>(tracing_writer{&played, tautline::name_of<Id>});
  return tag<Id>(tautline::summary_saver<Names...>::with(writer, trigger));
}

}  // namespace conformance
