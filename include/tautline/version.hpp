// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The library's version; equal to the file VERSION at the root of the repository (a test compares them).
#define TAUTLINE_VERSION_MAJOR 0
#define TAUTLINE_VERSION_MINOR 1
#define TAUTLINE_VERSION_PATCH 0
