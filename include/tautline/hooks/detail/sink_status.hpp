// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <tautline/core/life.hpp>

TAUTLINE_BEGIN
namespace detail {

/// What a hook's sink met last becomes an error of the hook: where there are no exceptions its status is all that tells.
template <class Sink>
void report_status(Sink const& sink, life& at) {
  if (status const now = sink.status(); !now.ok()) at.fail(now.kind, copied{now.message});
}

}  // namespace detail
TAUTLINE_END
