// SPDX-License-Identifier: BSL-1.0

#pragma once

#include <tautline/core.hpp>

#include "board/print.hpp"

/// Says what went wrong. @return the exit code
inline int failed(tautline::error const& happened) {
  board::line{}.put("failed: ").put(happened.message.words()).put(' ').put(happened.hook).say();
  return 3;
}
