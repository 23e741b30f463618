// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/hooks/tensor_logger.hpp>

#include "tagged.hpp"

namespace conformance {

/// A sink that traces each line as an act. The format is called first, with the step; the sink shows that the line
/// was written.
inline tautline::logging traced_logging(world& played, char const* id) {
  tautline::logging how;
  how.clock = run_clock{&played};
  how.format = [](tautline::log_moment const& moment) { return std::to_string(moment.step); };
  how.log = [&played, id](std::string_view line) {
    played.trace("act %s step=%.*s", id, static_cast<int>(line.size()), line.data());
  };
  return how;
}

/// With braces, as users write it, where the trigger fits; a large one has to be a part of the type.
template <tautline::fixed_string Id, tautline::fixed_string... Names, class Trigger>
auto made_tensor_logger(world& played, Trigger trigger) {
  tautline::logging how = traced_logging(played, tautline::name_of<Id>);
  if constexpr (sizeof(Trigger) <= tautline::any_trigger::capacity &&
                sizeof(typename Trigger::memory) <= tautline::any_trigger::capacity) {
    return tag<Id>(tautline::tensor_logger<Names...>{trigger, how});
  } else {
    return tag<Id>(tautline::tensor_logger<Names...>::with(trigger, how));
  }
}

}  // namespace conformance
