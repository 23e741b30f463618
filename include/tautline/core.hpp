// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The small door: what a microcontroller uses. No heap, no exceptions, no RTTI, no threads, no clock are needed.

// IWYU pragma: begin_exports
#include <tautline/core/config.hpp>
#include <tautline/core/error.hpp>
#include <tautline/core/monitored.hpp>
#include <tautline/core/monitored_session.hpp>
#include <tautline/core/options.hpp>
#include <tautline/core/request.hpp>
#include <tautline/core/step_from.hpp>
#include <tautline/core/trigger.hpp>
#include <tautline/version.hpp>
// IWYU pragma: end_exports
