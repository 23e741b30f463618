// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN

/// What a process is in a training of several: the chief restores or initialises, saves and writes summaries; workers
/// do none of it.
enum class role : std::uint8_t { chief, worker };

TAUTLINE_END
