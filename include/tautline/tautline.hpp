// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Core and hooks. Sessions, io and training have headers of their own, so that nobody pays for them unasked.

// IWYU pragma: begin_exports
#include <tautline/adapt/fmt.hpp>
#include <tautline/core.hpp>
#include <tautline/hooks.hpp>
// IWYU pragma: end_exports
