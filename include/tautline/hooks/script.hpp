// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/hooks/detail/script_hook.hpp>

TAUTLINE_BEGIN

/// A script with its trigger: what `script<&f>::with(trigger)` makes.
template <auto Function, class Trigger, class... Options>
class triggered_script : public detail::script_base_t<Function, Trigger, Options...> {
 public:
  constexpr explicit triggered_script(Trigger given)
      : detail::script_base_t<Function, Trigger, Options...>(detail::script_trigger<Trigger>{given}) {}
};

/// A hook whose whole life is one function: a coroutine that waits for the runs of its session.
///
///     script_body plateau(script_context<value_of<"loss", float>> life) {
///       float best = co_await life.next_value();
///       for (int waited = 0; waited < 20; ++waited) {
///         float const loss = co_await life.next_value();
///         if (loss < best) best = loss, waited = 0;
///       }
///       life.request_stop("plateau");
///     }
///
///     auto session = monitored(graph, script<&plateau>{});
///     auto session = monitored(graph, script<&plateau, frame_bytes<512>>::with(every_steps{10}));
///
/// The context's template arguments say what the script uses. g++ 12: the first statement declares a local, and what is
/// awaited goes into a local of its own; `while (co_await …)` makes a program that crashes.
///
/// A script is resumed in the runs for which it waits, those in which its trigger fires if it has one. With a `state_of<T>`
/// it is `resumable`: then it starts when the session has been made, with the data as saved, and is started anew after a
/// restore. A session with checkpoints takes others only as `script<&f, not_resumable>`.
///
/// **Order** it starts in `begin` (one with a state: in `after_create_session`), is resumed in `after_run`, or in `end`
/// where it waits for that; its locals are destroyed when it returns, in `close`, and before it starts again.
/// **Errors** what the body throws, or reports by `life.fail`, is an error of the hook in that callback;
/// `frame_too_small`, which g++ finds when compiling with optimization where the function's body is seen.
/// **Cost** a resume in the runs that concern it; the frame lies in the hook, nothing is allocated.
/// @tparam Options `frame_bytes<N>` (256), `not_resumable`
template <auto Function, class... Options>
class script : public detail::script_base_t<Function, detail::no_script_trigger, Options...> {
 public:
  template <trigger Trigger>
  [[nodiscard]] static constexpr auto with(Trigger given) {
    return triggered_script<Function, Trigger, Options...>(given);
  }
};

TAUTLINE_END
