// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The test kit for authors of hooks: a scripted session, faults, clocks, traces, checkpoints in memory, and the laws that
/// hold of every hook. It needs no test framework.
///
/// Not here, since one file of a program has it: <tautline/testing/count_allocations.hpp>.

// IWYU pragma: begin_exports
#include <tautline/testing/allocations.hpp>
#include <tautline/testing/failing_hook.hpp>
#include <tautline/testing/fake_clock.hpp>
#include <tautline/testing/law_report.hpp>
#include <tautline/testing/laws.hpp>
#include <tautline/testing/memory_store.hpp>
#include <tautline/testing/output.hpp>
#include <tautline/testing/script.hpp>
#include <tautline/testing/scripted_session.hpp>
#include <tautline/testing/trace.hpp>
// IWYU pragma: end_exports
