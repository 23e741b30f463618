// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/making.hpp>

TAUTLINE_BEGIN
namespace detail {

/// How one attempt at a run went.
enum class outcome : std::uint8_t {
  ran,      ///< the run took place and all hooks saw it
  again,    ///< the session was made anew: the run has to be repeated
  ended,    ///< end of input
  failed,   ///< a hook failed; after `settle` the session is closed, and its error says why
  run_failed,  ///< the session's run failed: it may be recovered
  rolled_back,  ///< a gate wants to go back to the latest checkpoint
  stopped,  ///< nothing was run: somebody asked for a stop before
  busy,     ///< nothing was run: a hook called the session that it stands in
};

/// A hook that saves: asked whether it wants to, and called, after the last `after_run` of a step and the last `end`.
template <class Hook>
concept saving = is_saver<Hook> && requires(Hook& hook, training_state const& state, life& at) {
  { hook.wants_save() } -> std::same_as<bool>;
  hook.save(state, at);
};

/// What else happens outside of the loop's own path: recoveries, saving, errors, end and close.
template <class Core>
class life_cycle;
template <class Backend, class Options, class... Kept>
class life_cycle<session_core<Backend, Options, Kept...>> : public making<session_core<Backend, Options, Kept...>> {
 public:
  using base = making<session_core<Backend, Options, Kept...>>;
  using core = typename base::core;
  static constexpr std::size_t hook_count = sizeof...(Kept);
  using indices = typename base::indices;
  using opening = typename base::opening;
  using closing = typename base::closing;
  template <std::size_t Index>
  using hook_type = typename base::template hook_type<Index>;

  /// Runs `begin` of every hook, finalizes the graph and makes the first session. Afterwards the session is open, or
  /// closed with an error.
  template <class Graph, class... Hooks>
  TAUTLINE_COLD life_cycle(Graph&& graph, Options given, Hooks&&... hooks)
      : base(static_cast<Options&&>(given), static_cast<Hooks&&>(hooks)...) {
#if TAUTLINE_EXCEPTIONS
    this->state.uncaught = static_cast<std::uint8_t>(std::uncaught_exceptions());
#endif
    plain_life at(this->state);
    bool begun = false;
    TAUTLINE_TRY {
      // one that may be moved from may be changed where it is
      std::conditional_t<std::is_same_v<Graph, std::remove_cvref_t<Graph>>, Graph&, std::remove_cvref_t<Graph>> first(graph);
      begun = this->begin_from(at, first, typename base::beginning{});
    }
    TAUTLINE_CATCH_ALL { this->report_exception(at); }
    if (!begun) {
      this->tell_error();
      give_up();
    } else if (this->open_session() || settle_making()) {
      this->state.now = phase::open;
    }
  }

 protected:
  // --- saving -----------------------------------------------------------------------------------------------------

  struct is_saving {
    static consteval hook_mask<hook_count> mask() { return {{saving<hook_of<Kept>>...}}; }
  };
  using savers = filter_if_t<(false || ... || saving<hook_of<Kept>>), is_saving, closing>;

  /// After the last `after_run` of a step, or after the last `end`: the hooks that want it save. @return false after the
  /// first failure, which is reported
  template <std::size_t... Index>
  TAUTLINE_COLD bool save_all(step_number ahead, std::index_sequence<Index...>) {
    plain_life at(this->state);
    access::set_ahead(at, ahead);
    return (true && ... && save_one<Index>(at));
  }
  template <std::size_t Index>
  bool save_one(life& at) {
    auto& hook = this->template place<Index>().hook();
    if (!hook.wants_save()) return true;
    access::enter(at, callback::save, Index);
    TAUTLINE_TRY {
      [[maybe_unused]] auto const seen = this->watch(at, callback::save, Index);
      hook.save(saved_state<core>::view(*this), at);
    }
    TAUTLINE_CATCH_ALL {
      this->report_exception(at);
      return false;
    }
    return !access::failed(at);
  }
  template <std::size_t... Index>
  TAUTLINE_INLINE bool wants_save(std::index_sequence<Index...>) {
    return (false || ... || this->template place<Index>().hook().wants_save());
  }


  // --- failures ---------------------------------------------------------------------------------------------------

  /// After an error of the session's run, or of a hook in a run, that has been reported.
  TAUTLINE_COLD outcome settle(bool from_session) {
    this->tell_error();
    if (may_break && from_session) return settle_making() ? outcome::again : outcome::failed;
    give_up();
    return outcome::failed;
  }

  /// A gate wants to go back to the latest checkpoint: the session is made anew from it, if there is one.
  TAUTLINE_COLD outcome go_back() {
    if constexpr (has_restorer<Options>) {
      this->restoring.roll_back = false;
      this->tell_error();
      if (this->state.reported() == 1) {
        close_backend();
        if (this->state.reported() == 1) {
          this->state.forget_errors();
          if ((this->open_session() || settle_making()) && this->was_restored()) return outcome::again;
          if (this->state.now == phase::closed) return outcome::failed;
          plain_life at(this->state);
          access::enter(at, callback::gate, no_hook);
          at.fail(error_kind::nan, "there is no checkpoint to go back to. Mend: let the saver save at the start, too");
          this->tell_error();
        }
      }
      give_up();
    }
    return outcome::failed;
  }

  /// Whether a session may be made anew at all. If not, nothing of that is in the program.
  static constexpr bool may_break = !unbreakable<Backend> || has_restorer<Options>;

  /// Makes sessions until one is made, or until the error of the last failure is final: then all is closed.
  bool settle_making() {
    if constexpr (may_break) {
      while (may_recover()) {
        close_backend();
        this->state.forget_errors();
        if (!waited()) break;
        if (this->open_session()) return true;
      }
    }
    give_up();
    return false;
  }

  /// Counts a failure. False if it is of another kind or there were too many, or if a hook failed over it.
  bool may_recover() {
    error const happened = this->error_at(0);
    if (happened.kind != error_kind::aborted && happened.kind != error_kind::unavailable) return false;
    if (happened.where != callback::run && happened.where != callback::create_session) return false;
    if (*happened.hook != 0) return false;  // of its after_restore: an error of a hook
    if (this->state.reported() > 1) return false;
    if (this->ran_in_this_session()) {
      this->state.recoveries = 0;
      this->state.completed_when_made = static_cast<std::uint32_t>(this->state.completed);  // counted once
    }
    std::uint8_t most = 5;
    if constexpr (std::is_base_of_v<max_recoveries, Options>) most = static_cast<max_recoveries&>(this->given).count;
    if (this->state.recoveries >= most) return false;
    ++this->state.recoveries;
    return true;
  }

  /// Exponential back-off with jitter, by the sleeper of the options. @return false if that failed, which is reported
  bool waited() {
    if constexpr (has_sleep<Options>) {
      plain_life at(this->state);
      access::enter(at, callback::create_session, no_hook);
      std::uint32_t milliseconds = 100;
      for (int i = 1; i < this->state.recoveries && milliseconds < 10'000; ++i) milliseconds *= 2;
      if (milliseconds > 10'000) milliseconds = 10'000;
      auto mixed = static_cast<std::uint32_t>(this->ticks()) ^ static_cast<std::uint32_t>(this->state.completed) ^
                   (this->state.recoveries * 0x9e3779b9U);
      mixed ^= mixed << 13, mixed ^= mixed >> 17, mixed ^= mixed << 5;
      TAUTLINE_TRY { find_sleep(this->given).sleep(milliseconds - mixed % (milliseconds / 2)); }
      TAUTLINE_CATCH_ALL {
        this->report_exception(at);
        this->tell_error();
        return false;
      }
    }
    return true;
  }

  void close_backend() {
    if (!this->state.has_session) return;
    this->state.has_session = false;
    plain_life at(this->state);
    access::enter(at, callback::close, no_hook);
    TAUTLINE_TRY {
      if constexpr (requires { { this->backend.close() } -> std::same_as<status>; }) {
        status const closed = this->backend.close();
        if (!closed.ok()) access::report(at, closed);
      } else if constexpr (requires { this->backend.close(); }) {
        this->backend.close();
      }
    }
    TAUTLINE_CATCH_ALL { this->report_exception(at); }
  }

  template <std::size_t... Index>
  void save_all_at_end(std::index_sequence<Index...>) {
    plain_life at(this->state);
    (void(save_one<Index>(at)), ...);
  }

  /// Closes; in good order, with `end`, or else without.
  TAUTLINE_COLD void shut_down(bool in_good_order) {
    this->state.now = phase::closed;
    this->state.set_stopped();
    if (in_good_order) {
      raw_session<core> session(*this);
      this->template tell_all<callback::end, end_callback>(filter_t<typename base::template has_callback<end_callback>, closing>{}, session);
      save_all_at_end(savers{});
    }
    this->template tell_all<callback::close, close_callback>(filter_t<typename base::template has_callback<close_callback>, closing>{});
    close_backend();
  }
  void give_up() { shut_down(false); }
};

}  // namespace detail
TAUTLINE_END
