// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN

/// Where hooks write numbers over steps: event files, JSON lines, CSV, or anything of your own.
///
///     struct my_writer { void add_scalar(std::string_view tag, double value, tautline::step_number step); };
template <class Writer>
concept summary_writer = requires(Writer& writer, std::string_view tag, double value, step_number step) {
  writer.add_scalar(tag, value, step);
};

TAUTLINE_END
