// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <tautline/core/training_state.hpp>

TAUTLINE_BEGIN

/// A monotonic clock: `now()` in integral ticks, `ticks_per_second`. `<tautline/adapt/chrono.hpp>` makes one of
/// std::chrono's; a microcontroller gives its tick counter.
template <class Clock>
concept clock_type = requires(Clock& clock) {
  { clock.now() } -> std::integral;
  { clock.ticks_per_second() } -> std::integral;
};

/// Option: the session's clock, for `run_for` and `every_seconds`. Give a lambda or class; it is kept in the session.
template <clock_type Clock>
struct with_clock {
  [[no_unique_address]] Clock clock;
};
template <class Clock>
with_clock(Clock) -> with_clock<Clock>;

/// Option: how many failures in a row (runs and makings of sessions together) are recovered; 5.
struct max_recoveries {
  std::uint8_t count;
};

/// Option: how a recovery waits. `sleep(milliseconds)` is called before each new try with 100 ms, doubled each time up
/// to 10 s, and up to half of that shorter by jitter. The core has no way to sleep: without this option it tries at once.
template <std::invocable<std::uint32_t> Sleep>
struct with_sleep {
  [[no_unique_address]] Sleep sleep;
};
template <class Sleep>
with_sleep(Sleep) -> with_sleep<Sleep>;

/// Option: bytes of the session's memory, for the loop's frame, errors and copied reasons; 256.
template <std::size_t Bytes>
struct frame_bytes {
  static_assert(Bytes >= 64 && Bytes <= 2040, "tautline: frame_bytes is between 64 and 2040. Mend: give a number of bytes in these bounds");
};

/// Option: the step from which the first session starts, where the backend does not say it.
struct initial_step {
  step_number step;
};

/// Option: the longest time that a step takes, in ticks of the clock: `run_for` starts no step when less is left.
struct longest_step {
  std::uint64_t ticks;
};

/// Option: is told the error that `end` or `close` met in the destructor, which itself never throws.
template <std::invocable<error const&> Handler>
struct on_close_error {
  [[no_unique_address]] Handler handler;
};
template <class Handler>
on_close_error(Handler) -> on_close_error<Handler>;

/// Option: each session that is made begins from what `from` has saved: variables, input, step and the state of the
/// hooks. Where nothing has been saved yet it begins as it would without this option.
///
///     checkpoint_store store("checkpoints");
///     auto session = monitored(graph, options{restore_from{store}}, checkpoint_saver{store, every_steps{1000} | at_end}, …);
template <restorer Restorer>
struct restore_from {
  Restorer& from;
  constexpr explicit restore_from(Restorer& given) : from(given) {}
};

/// Option: what ends a training from outside, and whatever works beside it: any object. Hooks that have a second
/// parameter of its type in `after_create_session(session, coordinator&)` get it.
template <class Coordinator>
struct with_coordinator {
  Coordinator& coordinator;
  constexpr explicit with_coordinator(Coordinator& given) : coordinator(given) {}
};

/// Option: the session's steps are for a thread that must not wait. Hooks that may allocate, wait or throw in a step do not
/// compile: what is called in a step (`before_run`, `gate`, `after_run`) must be noexcept, and the class must declare
/// `static constexpr bool real_time = true;`. `off_thread` makes such a hook of any other.
struct real_time {};

/// `monitored(graph, options{with_clock{ticks}, max_recoveries{2}, frame_bytes<512>{}}, hooks…)`
template <class... Given>
struct options : Given... {
  options() requires(sizeof...(Given) == 0) = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr options(Given... given) requires(sizeof...(Given) != 0) : Given(static_cast<Given&&>(given))... {}
};
template <class... Given>
options(Given...) -> options<Given...>;

namespace detail {

template <class Type>
inline constexpr bool is_options = false;
template <class... Given>
inline constexpr bool is_options<options<Given...>> = true;

template <class Clock>
constexpr with_clock<Clock>& find_clock(with_clock<Clock>& found) {
  return found;
}
template <class Sleep>
constexpr with_sleep<Sleep>& find_sleep(with_sleep<Sleep>& found) {
  return found;
}
template <class Handler>
constexpr on_close_error<Handler>& find_close_handler(on_close_error<Handler>& found) {
  return found;
}
template <class Restorer>
constexpr restore_from<Restorer>& find_restorer(restore_from<Restorer>& found) {
  return found;
}
template <class Coordinator>
constexpr with_coordinator<Coordinator>& find_coordinator(with_coordinator<Coordinator>& found) {
  return found;
}
template <std::size_t Bytes>
consteval std::size_t find_frame_bytes(frame_bytes<Bytes> const*) {
  return Bytes;
}
consteval std::size_t find_frame_bytes(void const*) { return 256; }

template <class Options>
concept has_clock = requires(Options& given) { find_clock(given); };
template <class Options>
concept has_sleep = requires(Options& given) { find_sleep(given); };
template <class Options>
concept has_close_handler = requires(Options& given) { find_close_handler(given); };
template <class Options>
concept has_restorer = requires(Options& given) { find_restorer(given); };
template <class Options>
concept has_coordinator = requires(Options& given) { find_coordinator(given); };
template <class Options>
inline constexpr bool is_real_time = std::is_base_of_v<real_time, Options>;
template <class Options>
inline constexpr std::size_t frame_bytes_in = find_frame_bytes(static_cast<Options const*>(nullptr));

}  // namespace detail
TAUTLINE_END
