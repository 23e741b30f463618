// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <utility>

#include <tautline/core/hook.hpp>
#include <tautline/hooks/detail/signal_table.hpp>

TAUTLINE_BEGIN

/// Stops in good order when the process gets a signal: SIGINT (Ctrl-C) and SIGTERM, or those that it is given.
///
///     auto session = monitored(graph, stop_on_signal{}, checkpoint_saver{…, at_end});
///     auto session = monitored(graph, stop_on_signal{SIGTERM, SIGUSR1}, …);
///
/// The first signal asks for a stop, with the reason "signal 15 (SIGTERM)": the step in progress is finished, `end` is
/// called, savers save. A second signal, of the same kind or another one that is watched, means now: the handler puts
/// back the default action and raises it again, also in the middle of a save. (A store that is worth its name survives
/// that.)
///
/// The handler only sets lock-free flags. All sessions of the process that watch the signal are stopped, up to 64 at a
/// time. Handlers that were there before are put back when the last of them closes, and are not called meanwhile. A
/// signal that was ignored when the hook began (`nohup`, a background job of a shell) stays ignored.
///
/// **Order** handlers are put in in `begin`, so that a signal in a long making of a session is seen, and taken out in
/// `close`. **Errors** `invalid_argument` in `begin`: a number that is no signal, one that cannot be caught (SIGKILL),
/// or too many sessions. **Stop** asks for one, in this hook's name.
/// **Cost** nothing in a step: no callback. POSIX only.
/// **Thread-safety** sessions may be in several threads; the signal may come to any of them.
class stop_on_signal {
 public:
  static constexpr bool stateless = true;
  static constexpr bool real_time = true;

  stop_on_signal() : stop_on_signal(SIGINT, SIGTERM) {}
  template <std::same_as<int>... Signals>
    requires(sizeof...(Signals) > 0)
  explicit stop_on_signal(Signals... watched)
      : wanted_((std::uint64_t{0} | ... | detail::signal_table::bit_of(watched))),
        valid_((true && ... && (detail::signal_table::bit_of(watched) != 0))) {}

  stop_on_signal(stop_on_signal&& other) noexcept
      : wanted_(other.wanted_), valid_(other.valid_), place_(std::exchange(other.place_, detail::signal_table::no_place)) {}
  stop_on_signal& operator=(stop_on_signal&& other) noexcept {
    if (this != &other) {
      close();
      wanted_ = other.wanted_;
      valid_ = other.valid_;
      place_ = std::exchange(other.place_, detail::signal_table::no_place);
    }
    return *this;
  }
  ~stop_on_signal() { close(); }

  template <class Graph>
  void begin(Graph&, life& at) {
    close();
    last_ = 0;
    if (valid_) place_ = detail::signal_table::instance().add(at.handle(), wanted_);
    if (place_ == detail::signal_table::no_place) {
      at.fail(error_kind::invalid_argument, "stop_on_signal: a number that is no signal, one that cannot be caught, or more than 64 sessions");
    }
  }
  void close() noexcept {
    if (place_ == detail::signal_table::no_place) return;
    last_ = detail::signal_table::instance().received(place_);
    detail::signal_table::instance().remove(std::exchange(place_, detail::signal_table::no_place));
  }

  /// The signal that has come; 0 while there was none. Can be read after the session, too.
  [[nodiscard]] int received() const noexcept {
    return place_ == detail::signal_table::no_place ? last_ : detail::signal_table::instance().received(place_);
  }

 private:
  std::uint64_t wanted_;
  bool valid_;
  int place_ = detail::signal_table::no_place;
  int last_ = 0;
};

TAUTLINE_END
