// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/events.hpp>
#include <tautline/core/saved_state.hpp>

TAUTLINE_BEGIN
namespace detail {

/// Whether `after_create_session` has a second parameter for the option's coordinator: one that takes no other thing.
template <class Hook, class Session, class Options>
consteval bool takes_coordinator() {
  if constexpr (has_coordinator<Options>) {
    using coordinator = std::remove_reference_t<decltype(find_coordinator(std::declval<Options&>()).coordinator)>;
    return after_create_session_callback::form_with<Hook, Session, coordinator>() != form::absent &&
           !after_create_session_callback::template takes<Hook, Session, any_argument>();
  } else {
    return false;
  }
}

/// How a session comes to be: `begin`, the raw session made or made anew, restored, shown to the hooks.
template <class Core>
class making;
template <class Backend, class Options, class... Kept>
class making<session_core<Backend, Options, Kept...>> : public events<session_core<Backend, Options, Kept...>> {
 public:
  using base = events<session_core<Backend, Options, Kept...>>;
  using core = typename base::core;
  static constexpr std::size_t hook_count = sizeof...(Kept);
  using indices = typename base::indices;
  using opening = typename base::opening;
  template <std::size_t Index>
  using hook_type = typename base::template hook_type<Index>;

  using base::base;

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
      [[maybe_unused]] auto const seen = this->watch(at, callback::create_session, hook_count);
      made = resolve_names(opening{});
      if (!made.ok()) {  // nothing is open
      } else if constexpr (requires { { this->backend.open() } -> std::same_as<status>; }) {
        made = this->backend.open();
      } else if constexpr (requires { this->backend.open(); }) {
        this->backend.open();
      }
      if (made.ok()) {
        this->state.has_session = true;
        if constexpr (!finishes_open) this->state.completed = first_step();
        made = restore(at);
      }
      if constexpr (finishes_open) {
        if (made.ok() && !access::failed(at)) made = finish_open();
      }
      if (made.ok() && !access::failed(at)) {
        this->state.completed_when_made = static_cast<std::uint32_t>(this->state.completed);
        this->restart_triggers(!this->state.told_sessions && !was_restored(),
                               filter_t<typename base::is_triggered, indices>{});
        this->state.told_sessions = true;
      }
    }
    TAUTLINE_CATCH_ALL {
      thrown = true;
      this->report_exception(at);
    }
    if (!thrown && !made.ok()) access::report(at, made);
    if (thrown || !made.ok() || access::failed(at)) {
      this->tell_error();
      return false;
    }
    raw_session<core> session(*this);
    if (!tell_created(at, session,
                      filter_t<typename base::template has_callback<after_create_session_callback>, opening>{})) {
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
      return this->template tell_one<callback::after_create_session, after_create_session_callback, Index>(at, session,
                                                                                                           coordinator);
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

  /// The names that hooks may ask for, where the backend knows them only when it runs.
  template <std::size_t... Index>
  status resolve_names(std::index_sequence<Index...>) {
    using all = run_request<true, typename core::provided_names, std::make_index_sequence<sizeof...(Index)>,
                            typename hook_request<core, run_args<>, hook_type<Index>>::type...>;
    if constexpr (requires { { this->backend.template resolve<all>() } -> std::same_as<status>; }) {
      return this->backend.template resolve<all>();
    } else {
      return {};
    }
  }
  static constexpr bool finishes_open = requires(Backend& made) { { made.finish_open(true) } -> std::same_as<status>; };
  /// What is left to do once a restorer has been asked.
  status finish_open() {
    if constexpr (finishes_open) {
      step_number const restored = this->state.completed;
      status const done = this->backend.finish_open(was_restored());
      if (done.ok()) this->state.completed = was_restored() ? restored : first_step();
      return done;
    } else {
      return {};
    }
  }

  /// Puts back what the option's restorer has, if it has anything.
  status restore([[maybe_unused]] life& at) {
    if constexpr (has_restorer<Options>) {
      // what triggers remember must be there before it can be overwritten; variables may have no values yet
      if (!this->state.told_sessions)
        this->restart_triggers(true, filter_t<typename base::is_triggered, indices>{}, false);
      if constexpr (requires { { this->backend.prepare_restore() } -> std::same_as<status>; }) {
        if (status const prepared = this->backend.prepare_restore(); !prepared.ok()) return prepared;
      }
      restored const made = find_restorer(this->given).from.restore(saved_state<core>::view(*this));
      this->restoring.found = made.result.ok() && made.found;
      if (!this->restoring.found) return made.result;
      if constexpr (requires { { this->backend.write_state() } -> std::same_as<status>; }) {
        if (status const written = this->backend.write_state(); !written.ok()) return written;
      }
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

  step_number first_step() {
    if constexpr (requires { this->backend.initial_step(); }) {
      return this->backend.initial_step();
    } else if constexpr (std::is_base_of_v<initial_step, Options>) {
      return this->state.told_sessions ? this->state.completed : static_cast<initial_step&>(this->given).step;
    } else {
      return this->state.completed;
    }
  }
};

}  // namespace detail
TAUTLINE_END
