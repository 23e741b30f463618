// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <type_traits>

#include <tautline/core/life.hpp>
#include <tautline/core/trigger.hpp>

TAUTLINE_BEGIN
namespace detail {

/// A trigger that looks at the time is of no use in a session without a clock.
template <class Trigger, class Session>
void check_clock(Trigger const& trigger, Session const&, life& at) {
  if (!std::remove_cvref_t<Session>::has_clock && detail::wants_clock(trigger)) {
    at.fail(error_kind::invalid_argument,
            "every_seconds needs a clock. Mend: monitored(graph, options{with_clock{steady_clock_ticks{}}}, hooks...)");
  }
}

}  // namespace detail
TAUTLINE_END
