// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <tautline/core/trigger.hpp>

TAUTLINE_BEGIN
namespace detail {

/// The trigger of hooks that act in every run unless they are told otherwise: nothing to remember, nothing to compare.
struct each_run : plain_trigger {
  static constexpr bool due(memory, trigger_view const& view) { return !view.ending; }
};

}  // namespace detail
TAUTLINE_END
