// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/hooks/step_rate_logger.hpp>

#include "tensor_logger.hpp"

namespace conformance {

template <tautline::fixed_string Id, class Trigger>
auto made_step_rate_logger(world& played, Trigger trigger) {
  return tag<Id>(tautline::step_rate_logger(trigger, traced_logging(played, tautline::name_of<Id>)));
}

}  // namespace conformance
