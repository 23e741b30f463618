// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/events.hpp>
#include <tautline/core/saved_state.hpp>

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

/// Whether `after_create_session` has a second parameter for the option's coordinator: one that takes no other thing.
template <class Hook, class Session, class Options>
consteval bool takes_coordinator() {
  if constexpr (has_coordinator<Options>) {
    using coordinator = std::remove_reference_t<decltype(find_coordinator(std::declval<Options&>()).coordinator)>;
    return form_with<after_create_session_callback, Hook, Session, coordinator>() != form::absent &&
           !after_create_session_callback::template takes<Hook, Session, any_argument>();
  } else {
    return false;
  }
}

/// Everything that happens outside of the loop's own path: begin, sessions made and made anew, errors, end and close.
template <class Backend, class Options, class... Entries>
class life_cycle : public events<Backend, Options, Entries...> {
 public:
  using base = events<Backend, Options, Entries...>;
  using core = typename base::core;
  static constexpr std::size_t hook_count = sizeof...(Entries);
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
      std::remove_cvref_t<Graph> first(static_cast<Graph&&>(graph));
      begun = begin_from(at, first, typename base::beginning{});
    }
    TAUTLINE_CATCH_ALL { this->report_exception(at); }
    if (!begun) {
      this->tell_error();
      give_up();
    } else if (open_session() || settle_making()) {
      this->state.now = phase::open;
    }
  }

 protected:
  // --- making -----------------------------------------------------------------------------------------------------

  /// The graph goes from hook to hook, perhaps as a new type each time; the last one is finalized.
  template <class Graph>
  TAUTLINE_INLINE bool begin_from(life&, Graph& graph, std::index_sequence<>) {
    ::new (static_cast<void*>(&this->backend)) Backend(detail::finalize(graph));
    this->state.has_backend = true;
    return true;
  }
  template <class Graph, std::size_t Index, std::size_t... Rest>
  TAUTLINE_INLINE bool begin_from(life& at, Graph& graph, std::index_sequence<Index, Rest...>) {
    using hook = hook_type<Index>;
    constexpr begin_form form = begins<hook, Graph>();
    hook& told = this->template place<Index>().hook();
    access::enter(at, callback::begin, Index);
    if constexpr (form == begin_form::by_reference) {
      call_begin(told, at, graph);
      return !access::failed(at) && begin_from(at, graph, std::index_sequence<Rest...>{});
    } else {
      using passed = std::conditional_t<form == begin_form::by_copy, Graph&, Graph&&>;
      auto extended = call_begin(told, at, static_cast<passed>(graph));
      return !access::failed(at) && begin_from(at, extended, std::index_sequence<Rest...>{});
    }
  }
  template <class Hook, class Graph>
  static decltype(auto) call_begin(Hook& told, life& at, Graph&& graph) {
    if constexpr (begin_takes_life<Hook, std::remove_reference_t<Graph>>()) {
      return told.begin(static_cast<Graph&&>(graph), at);
    } else {
      return told.begin(static_cast<Graph&&>(graph));
    }
  }

  /// Makes a raw session and tells the hooks. On failure `on_error` has been called, the half-made session is closed
  /// if it may be tried again, and the error is the session's.
  TAUTLINE_COLD bool open_session() {
    plain_life at(this->state);
    access::enter(at, callback::create_session, no_hook);
    status made;
    bool thrown = false;
    TAUTLINE_TRY {
      [[maybe_unused]] auto const seen = this->template watch<callback::create_session, hook_count>(at);
      if constexpr (requires { { this->backend.open() } -> std::same_as<status>; }) {
        made = this->backend.open();
      } else if constexpr (requires { this->backend.open(); }) {
        this->backend.open();
      }
      if (made.ok()) {
        this->state.has_session = true;
        this->state.completed = first_step();
        made = restore(at);
      }
      if (made.ok() && !access::failed(at)) {
        this->state.completed_when_made = static_cast<std::uint32_t>(this->state.completed);
        this->restart_triggers(!this->state.told_sessions && !was_restored(), filter_t<typename base::is_triggered, indices>{});
        this->state.told_sessions = true;
      }
    }
    TAUTLINE_CATCH_ALL {
      thrown = true;
      this->report_exception(at);
    }
    if (!thrown && !made.ok()) this->state.report(access::describe(at, made));
    if (thrown || !made.ok() || access::failed(at)) {
      this->tell_error();
      return false;
    }
    raw_session<core> session(*this);
    if (!tell_created(at, session, filter_t<typename base::template has_callback<after_create_session_callback>, opening>{})) {
      this->tell_error();
      return false;
    }
    return true;
  }

  template <class Session, std::size_t... Index>
  bool tell_created(life& at, Session& session, std::index_sequence<Index...>) {
    return (true && ... && tell_created_one<Index>(at, session));
  }
  template <std::size_t Index, class Session>
  bool tell_created_one(life& at, Session& session) {
    if constexpr (takes_coordinator<hook_type<Index>, Session, Options>()) {
      auto& coordinator = find_coordinator(this->given).coordinator;
      return this->template tell_one<callback::after_create_session, after_create_session_callback, Index>(at, session, coordinator);
    } else {
      return this->template tell_one<callback::after_create_session, after_create_session_callback, Index>(at, session);
    }
  }

  // --- restoring --------------------------------------------------------------------------------------------------

  [[nodiscard]] bool was_restored() const {
    if constexpr (has_restorer<Options>) {
      return this->restoring.found;
    } else {
      return false;
    }
  }

  /// Puts back what the option's restorer has, if it has anything.
  status restore([[maybe_unused]] life& at) {
    if constexpr (has_restorer<Options>) {
      // what triggers remember must be there before it can be overwritten
      if (!this->state.told_sessions) this->restart_triggers(true, filter_t<typename base::is_triggered, indices>{});
      restored const made = find_restorer(this->given).from.restore(saved_state<core>::view(*this));
      this->restoring.found = made.result.ok() && made.found;
      if (!this->restoring.found) return made.result;
      this->state.completed = made.step;
      tell_restored(at, indices{});
    }
    return {};
  }
  template <std::size_t... Index>
  void tell_restored(life& at, std::index_sequence<Index...>) {
    (void)(true && ... && tell_restored_one<Index>(at));
  }
  template <std::size_t Index>
  bool tell_restored_one(life& at) {
    auto& hook = this->template place<Index>().hook();
    if constexpr (requires { hook.after_restore(at); }) {
      access::enter(at, callback::create_session, Index);
      hook.after_restore(at);
    } else if constexpr (requires { hook.after_restore(); }) {
      access::enter(at, callback::create_session, Index);
      hook.after_restore();
    }
    return !access::failed(at);
  }

  // --- saving -----------------------------------------------------------------------------------------------------

  struct is_saving {
    template <std::size_t Index>
    static consteval bool holds() {
      return saving<hook_type<Index>>;
    }
  };
  using savers = filter_if_t<(false || ... || saving<typename Entries::type>), is_saving, closing>;

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
      [[maybe_unused]] auto const seen = this->template watch<callback::save, Index>(at);
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


  step_number first_step() {
    if constexpr (requires { this->backend.initial_step(); }) {
      return this->backend.initial_step();
    } else if constexpr (std::is_base_of_v<initial_step, Options>) {
      return this->state.told_sessions ? this->state.completed : static_cast<initial_step&>(this->given).step;
    } else {
      return this->state.completed;
    }
  }

  // --- failures ---------------------------------------------------------------------------------------------------

  /// After an error of the session's run, or of a hook in a run, that has been reported.
  TAUTLINE_COLD outcome settle(bool from_session) {
    this->tell_error();
    if (from_session && settle_making()) return outcome::again;
    if (!from_session) give_up();
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
          if ((open_session() || settle_making()) && was_restored()) return outcome::again;
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

  /// Makes sessions until one is made, or until the error of the last failure is final: then all is closed.
  bool settle_making() {
    while (may_recover()) {
      close_backend();
      this->state.forget_errors();
      if (!waited()) break;
      if (open_session()) return true;
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
        if (!closed.ok()) this->state.report(access::describe(at, closed));
      } else if constexpr (requires { this->backend.close(); }) {
        this->backend.close();
      }
    }
    TAUTLINE_CATCH_ALL { this->report_exception(at); }
  }

  /// Closes without `end`.
  TAUTLINE_COLD void give_up() {
    this->state.now = phase::closed;
    this->state.set_stopped();
    this->template tell_all<callback::close, close_callback>(filter_t<typename base::template has_callback<close_callback>, closing>{});
    close_backend();
  }

  template <std::size_t... Index>
  void save_all_at_end(std::index_sequence<Index...>) {
    plain_life at(this->state);
    (void(save_one<Index>(at)), ...);
  }

  /// Closes in good order.
  TAUTLINE_COLD void finish() {
    this->state.now = phase::closed;
    this->state.set_stopped();
    raw_session<core> session(*this);
    this->template tell_all<callback::end, end_callback>(filter_t<typename base::template has_callback<end_callback>, closing>{}, session);
    save_all_at_end(savers{});
    this->template tell_all<callback::close, close_callback>(filter_t<typename base::template has_callback<close_callback>, closing>{});
    close_backend();
  }
};

}  // namespace detail
TAUTLINE_END
