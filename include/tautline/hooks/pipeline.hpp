// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/hooks/detail/pipeline_hook.hpp>

TAUTLINE_BEGIN

/// Begins a pipeline: a hook that is written as the way of a value.
///
///     auto converged = observe<"loss">() | every_steps{10} | smooth(0.9F) | where(below(0.05F)) |
///                      request_stop("the loss came down to {}");
///     auto session = monitored(graph, std::move(converged));
///
/// | stage | hands on |
/// |---|---|
/// | a trigger, once: `every_steps{10}`, `(every_steps{10} \| at_end)` | the values, where it fires |
/// | `transform(f)` | `f(values...)` |
/// | `where(predicate)` | the values for which `predicate(values...)` holds; `below(x)`, `above(x)`, `finite()` |
/// | `smooth(decay)` | the moving average |
/// | `delta()` | the difference to the value before |
/// | `window<10>(reduce)` | `reduce(window)` of the last 10 values |
/// | `for_times(n)` | the values from the n-th in a row on |
/// | `count()` | how many values have come |
/// | `tee(f)`, `tee(sink)` | the values, after `f(values...)` or `f(ctx, values...)`, or after the sink took them |
/// | **sinks** | |
/// | `request_stop("reason")`, `fail(kind, "message")` | up to two numbers go into the places `{}` of the text |
/// | `publish<"name">()` | to other hooks and the caller, as a value of that name |
/// | `call(f)` | `f(values...)` or `f(ctx, values...)` |
///
/// **Order** `after_run`. A trigger in front decides in which runs the values are asked for at all; one further back lets
/// through what the stages before it made of every run's values. With `at_end` the last run's values go on in `end`, if
/// that step was not handled: then they are asked for in every run, `ctx` is a `life`, and nothing can be published.
/// **Errors** `invalid_argument` for a decay that is none, and for a trigger that needs a clock where there is none; what
/// the callables throw.
/// **Cost** that of the same statements in the loop's body; no allocation.
/// @tparam Names of values of the graph, or of values that another hook publishes: then in runs where all of them are
template <fixed_string... Names>
constexpr auto observe() {
  if constexpr (sizeof...(Names) == 0) {
    detail::observes_nothing<names<Names...>>::say();
    return detail::rejected{};
  } else {
    return detail::open_pipeline<names<Names...>, detail::no_gate, 0>({}, detail::stages_of<>(std::in_place));
  }
}
/// The same for graphs that are objects, where a fetch names its type: `observe(fetch<"loss", float>)`.
template <fixed_string... Names, class... Types>
constexpr auto observe(fetch_t<Names, Types>...) {
  return detail::open_pipeline<run_args<fetch_t<Names, Types>...>, detail::no_gate, 0>({}, detail::stages_of<>(std::in_place));
}

/// Hands on `f(values...)`, one value. What a callable keeps from one call to the next is saved only if it lists it by
/// `state()`; others are called as const.
template <class Function>
constexpr auto transform(Function function) {
  return detail::transform_stage<Function>(static_cast<Function&&>(function));
}

/// Hands on the values for which `predicate(values...)` holds.
template <class Predicate>
constexpr auto where(Predicate predicate) {
  return detail::where_stage<Predicate>(static_cast<Predicate&&>(predicate));
}
/// For `where`: less than `limit`. False for NaN.
template <class Limit>
constexpr auto below(Limit limit) {
  return detail::compared<Limit, false>{limit};
}
/// For `where`: more than `limit`. False for NaN.
template <class Limit>
constexpr auto above(Limit limit) {
  return detail::compared<Limit, true>{limit};
}
/// For `where`: a number, or a range of numbers, without NaN and infinity.
constexpr auto finite() { return detail::is_finite_predicate{}; }

/// The exponential moving average `average += (1 - decay) * (value - average)`. It begins as the first value: nothing has
/// to be corrected, and the first ones count for more than later ones do. A value that is not finite spoils it for good:
/// put `where(finite())` before it. State: the average.
/// @param decay from 0 (no smoothing) to below 1; the average has its type
template <std::floating_point Value>
constexpr auto smooth(Value decay) {
  return detail::smooth_stage<Value>(decay);
}

/// The difference to the value before; nothing for the first. State: that value.
template <class Value = double>
  requires std::is_arithmetic_v<Value>
constexpr auto delta() {
  return detail::delta_stage<Value>{};
}

/// `reduce(window)` of the last `Count` values, as soon as there are so many: a `window_view`, which has `mean()`,
/// `sum()`, `lowest()`, `highest()`, `oldest()`, `newest()`, and is a range. State: the values.
template <std::size_t Count, class Value = double, class Reduce>
  requires std::is_arithmetic_v<Value>
constexpr auto window(Reduce reduce) {
  return detail::window_stage<Count, Value, Reduce>(static_cast<Reduce&&>(reduce));
}

/// Hands on the `times`-th value in a row and those that follow it without a gap. A gap is a value that a stage before
/// this one did not hand on; a run at which the trigger does not fire is none. State: how many.
constexpr auto for_times(step_number times) { return detail::for_times_stage(times); }

/// How many values have come here, a `step_number`. State: that.
constexpr auto count() { return detail::count_stage{}; }

/// Looks at the values and hands them on: `f(values...)`, `f(ctx, values...)`, or a sink.
template <class Function>
constexpr auto tee(Function function) {
  return detail::tee_stage<Function>(static_cast<Function&&>(function));
}

/// Sink: asks for a stop. `request_stop("the loss came down to {}")`: one or two numbers that reach it are in the reason.
constexpr auto request_stop(literal reason) { return detail::stop_sink(reason); }

/// Sink: reports an error, as `life::fail` does.
constexpr auto fail(error_kind kind, literal message) { return detail::fail_sink(kind, message); }

/// Sink: publishes the value, for other hooks and the caller. Where none reaches it, nothing is published in that run.
/// @tparam Value its type; a double by default
template <fixed_string Name, class Value = double>
constexpr auto publish() {
  return detail::publish_sink<Name, Value>{};
}

/// Sink: calls `f(values...)` or `f(ctx, values...)`.
template <class Function>
constexpr auto call(Function function) {
  return detail::call_sink<Function>(static_cast<Function&&>(function));
}

TAUTLINE_END
