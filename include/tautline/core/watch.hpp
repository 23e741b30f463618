// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/order.hpp>

TAUTLINE_BEGIN

/// What a hook is for, as those see it that watch.
enum class hook_role : std::uint8_t {
  none,        ///< no hook: the session itself
  hook,        ///< any other
  check,       ///< `using category = check;`
  saver,       ///< `using category = saver;`
  evaluation,  ///< `using category = evaluating;`
};

/// A callback of a hook, or something that the session does, while it is in progress.
struct moment {
  callback where = callback::none;  ///< `run` and `create_session` are the session's own
  hook_role role = hook_role::none;
  char const* hook = "";   ///< its name, of static life; empty for the session
  step_number step = 0;    ///< the run in progress; outside a run the completed steps
  std::size_t place = 0;   ///< of the hook among the arguments; the number of hooks for the session
};

/// A hook that is told of everything that happens in its session, for traces, times by hook, watchdogs:
///
///     void on_enter(moment const& now) noexcept;   // a callback of a hook, or the session's run, begins
///     void on_leave(moment const& now) noexcept;   // it has ended, on whatever way
///
/// Moments nest. It is told of all hooks, itself included, from the making of the first session on. **Cost** two calls
/// a callback, for all hooks of a session with a watching hook; none in other sessions.
template <class Hook>
concept watching = requires(Hook& hook, moment const& now) {
  { hook.on_enter(now) } noexcept;
  { hook.on_leave(now) } noexcept;
};

namespace detail {

template <class Hook>
inline constexpr hook_role role_of = is_check<Hook>   ? hook_role::check
                                     : is_saver<Hook> ? hook_role::saver
                                     : std::is_same_v<typename category_of<Hook>::type, evaluating>
                                         ? hook_role::evaluation
                                         : hook_role::hook;

/// In sessions in which nobody watches.
struct unwatched {};

/// Tells all watching hooks that a moment begins, and as it is destroyed that it has ended.
template <class Events, class Watchers>
class watched;
template <class Events, std::size_t... Watcher>
class watched<Events, std::index_sequence<Watcher...>> {
 public:
  watched(Events& session, moment const& now) : session_(session), now_(now) {
    (session_.template place<Watcher>().hook().on_enter(now_), ...);
  }
  watched(watched const&) = delete;
  watched& operator=(watched const&) = delete;
  ~watched() { (session_.template place<Watcher>().hook().on_leave(now_), ...); }

 private:
  Events& session_;
  moment now_;
};

}  // namespace detail
TAUTLINE_END
