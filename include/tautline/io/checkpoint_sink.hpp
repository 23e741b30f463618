// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <tautline/core/training_state.hpp>

TAUTLINE_BEGIN

/// What came of a saving that a sink has finished.
struct finished_save {
  status result{};       ///< its message is good for as long as the sink: a session keeps it
  step_number step = 0;
  char const* path = "";  ///< empty where there is no file; good until the next call of the sink
};

/// Where a `checkpoint_saver` saves: a folder of checkpoints, written at once or in the background, or a region of flash
/// memory. Required: `status save(training_state const&)`. Messages of errors must be good for as long as the sink; of the kind
/// `nan` it says that it has not saved since a value is not finite, which is no error. Optional, each used where it exists:
///
/// | member | meaning |
/// |---|---|
/// | `bool is_empty()` | nothing has been saved yet: asked for `also_at_start` |
/// | `status prepare(training_state const&)` | a session has been made: files may be opened, and memory taken, now |
/// | `void set_metric(char const* name, double)` | goes with the next saving |
/// | `bool next_finished(finished_save&)` | savings that are finished, one a call: for sinks that do not finish them in `save` |
/// | `status finish()` | waits, with a bound, until all are |
/// | `char const* last_path()` | of what was saved last |
/// | `static constexpr bool refuses_not_finite` | `save`, or what comes of it, is of the kind `nan` where a variable is not finite |
/// | `static constexpr bool runs_session` | `save` runs the session: `aborted` and `unavailable` say that this is broken, not the sink |
/// | `static constexpr bool real_time` | `save` neither allocates nor waits, once prepared |
template <class Sink>
concept checkpoint_sink = requires(Sink& sink, training_state const& state) {
  { sink.save(state) } -> std::same_as<status>;
};

TAUTLINE_END
