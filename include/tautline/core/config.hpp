// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <tautline/version.hpp>

/// All macros of the library. The only seam between the two error modes is here.
///
/// With exceptions on, the names live in `tautline::v0_throwing`, without them in `tautline::v0_nonthrowing`: both are
/// inline, so nobody writes them, and translation units of different modes that meet in one program cannot share a
/// function by accident.
#if defined(__cpp_exceptions)
#define TAUTLINE_EXCEPTIONS 1
#define TAUTLINE_MODE v0_throwing
#define TAUTLINE_CHECKED
#define TAUTLINE_TRY try
#define TAUTLINE_CATCH_ALL catch (...)
#else
#define TAUTLINE_EXCEPTIONS 0
#define TAUTLINE_MODE v0_nonthrowing
#define TAUTLINE_CHECKED [[nodiscard]]
#define TAUTLINE_TRY if constexpr (true)
#define TAUTLINE_CATCH_ALL else
#endif

#define TAUTLINE_BEGIN      \
  namespace tautline {      \
  inline namespace TAUTLINE_MODE {
#define TAUTLINE_END \
  }                  \
  }

/// Whether arithmetic in `double` is a matter of the runtime library, a kilobyte of it.
#if defined(__arm__) && !(defined(__ARM_FP) && (__ARM_FP & 8))
#define TAUTLINE_SOFT_DOUBLE 1
#else
#define TAUTLINE_SOFT_DOUBLE 0
#endif

/// Off the hot path: not inlined, placed apart.
#define TAUTLINE_COLD [[gnu::cold, gnu::noinline]]
/// Called for what it gives only: left out where nobody looks at that. clang sees it by itself, once the function is inlined,
/// and would forget the attribute where the result is in memory.
#if defined(__clang__)
#define TAUTLINE_LEFT_OUT_IF_UNUSED
#else
#define TAUTLINE_LEFT_OUT_IF_UNUSED [[gnu::pure, gnu::noinline]]
#endif
/// The loop of a session is one function in the end; these are its parts.
#define TAUTLINE_INLINE [[gnu::always_inline]] inline
/// Off the loop's usual path: as the compiler likes, but not a call for the sake of some bytes, which costs the loop registers.
#if defined(__OPTIMIZE_SIZE__)
#define TAUTLINE_INLINE_FOR_SIZE TAUTLINE_INLINE
#else
#define TAUTLINE_INLINE_FOR_SIZE
#endif

TAUTLINE_BEGIN

/// The ordinal of a step. Steps count from 1; 0 is "nothing done yet".
using step_number = std::int64_t;

TAUTLINE_END
