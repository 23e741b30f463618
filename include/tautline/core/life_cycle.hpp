// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/filter.hpp>
#include <tautline/core/order.hpp>
#include <tautline/core/run_result.hpp>

TAUTLINE_BEGIN
namespace detail {

/// How one attempt at a run went.
enum class outcome : std::uint8_t {
  ran,      ///< the run took place and all hooks saw it
  again,    ///< the session was made anew: the run has to be repeated
  ended,    ///< end of input
  failed,   ///< a hook failed; after `settle` the session is closed, and its error says why
  run_failed,  ///< the session's run failed: it may be recovered
  stopped,  ///< nothing was run: somebody asked for a stop before
  busy,     ///< nothing was run: a hook called the session that it stands in
};

/// The request type of a hook in runs whose caller asks for `Args`.
template <class Core, class Args, class Hook>
struct hook_request {
  using context = run_context<Core, Args>;
  static consteval form asking() { return form_with<before_run_callback, Hook, context>(); }

  static constexpr auto deduce() {
    if constexpr (asking() == form::absent) {
      return static_cast<no_request*>(nullptr);
    } else {
      using returned = std::remove_cvref_t<decltype(call<before_run_callback, asking()>(
          std::declval<Hook&>(), std::declval<life&>(), std::declval<context&>()))>;
      if constexpr (std::is_void_v<returned>) {
        return static_cast<no_request*>(nullptr);
      } else {
        return static_cast<returned*>(nullptr);
      }
    }
  }
  using type = std::remove_pointer_t<decltype(deduce())>;
  using fetches = typename inspect<type>::fetches;
  using values = run_values<Core, fetches>;
  static consteval bool asks() { return asks_for_values<type>; }

  static consteval form told_values() {
    if constexpr (asks()) {
      return form_with<after_run_callback, Hook, context, values>();
    } else {
      return form::absent;
    }
  }
  static consteval form told() { return form_with<after_run_callback, Hook, context>(); }
};

/// What a hook declares that it may ask for, known before its graph is.
template <class Hook>
struct declared_fetches {
  using type = type_list<>;
};
template <class Hook>
  requires(inspect<typename Hook::asks>::is_request)
struct declared_fetches<Hook> {
  using type = typename inspect<typename Hook::asks>::fetches;
};

/// Everything that happens outside of the loop's own path: begin, sessions made and made anew, errors, end and close.
template <class Backend, class Options, class... Entries>
class life_cycle : public session_core<Backend, Options, Entries...> {
 public:
  using core = session_core<Backend, Options, Entries...>;
  static constexpr std::size_t hook_count = sizeof...(Entries);
  using indices = std::make_index_sequence<hook_count>;

  template <class Args>
  using requests = type_list<typename hook_request<core, Args, typename Entries::type>::type...>;

  static constexpr auto begin_order = order_of(type_list<typename Entries::type...>{},
                                               type_list<typename declared_fetches<typename Entries::type>::type...>{});
  static constexpr auto run_order = order_of(
      type_list<typename Entries::type...>{},
      type_list<typename hook_request<core, run_args<>, typename Entries::type>::fetches...>{});
  using opening = typename opening_sequence<run_order, indices>::type;
  using closing = typename opening_sequence<run_order, indices>::reversed;

  template <std::size_t Index>
  using hook_type = typename core::template hook_type<Index>;
  template <class Callback>
  struct has_callback {
    template <std::size_t Index>
    static consteval bool holds() {
      return Callback::template named<hook_type<Index>>();
    }
  };
  struct is_triggered {
    template <std::size_t Index>
    static consteval bool holds() {
      return has_trigger<hook_type<Index>>;
    }
  };
  /// The hooks that have begin, in its order.
  using beginning = filter_t<has_callback<begin_callback>, typename opening_sequence<begin_order, indices>::type>;

  /// Runs `begin` of every hook, finalizes the graph and makes the first session. Afterwards the session is open, or
  /// closed with an error.
  template <class Graph, class... Hooks>
  TAUTLINE_COLD life_cycle(Graph&& graph, Options given, Hooks&&... hooks)
      : core(static_cast<Options&&>(given), static_cast<Hooks&&>(hooks)...) {
#if TAUTLINE_EXCEPTIONS
    this->state.uncaught = static_cast<std::uint8_t>(std::uncaught_exceptions());
#endif
    plain_life at(this->state);
    bool begun = false;
    TAUTLINE_TRY {
      std::remove_cvref_t<Graph> first(static_cast<Graph&&>(graph));
      begun = begin_from(at, first, beginning{});
    }
    TAUTLINE_CATCH_ALL { report_exception(at); }
    if (!begun) {
      tell_error();
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
      if constexpr (requires { { this->backend.open() } -> std::same_as<status>; }) {
        made = this->backend.open();
      } else if constexpr (requires { this->backend.open(); }) {
        this->backend.open();
      }
      if (made.ok()) {
        this->state.has_session = true;
        this->state.completed = first_step();
        this->state.completed_when_made = static_cast<std::uint32_t>(this->state.completed);
        restart_triggers(filter_t<is_triggered, indices>{});
        this->state.told_sessions = true;
      }
    }
    TAUTLINE_CATCH_ALL {
      thrown = true;
      report_exception(at);
    }
    if (!thrown && !made.ok()) this->state.report(access::describe(at, made));
    if (thrown || !made.ok()) {
      tell_error();
      return false;
    }
    raw_session<core> session(*this);
    if (!tell<callback::after_create_session, after_create_session_callback>(at, filter_t<has_callback<after_create_session_callback>, opening>{}, session)) {
      tell_error();
      return false;
    }
    return true;
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

  template <class Trigger>
  TAUTLINE_INLINE trigger_view look([[maybe_unused]] Trigger const& asked, step_number step) {
    trigger_view view;
    view.step = step;
    if constexpr (counts_by_value<Trigger>) {
      view.step = static_cast<step_number>(backend_value<Trigger::step_name, void>(this->backend)) +
                  (step - this->state.completed);
    }
    if constexpr (uses_clock<Trigger>) {
      if (detail::wants_clock(asked)) {
        view.ticks = this->ticks();
        view.second = this->ticks_per_second();
      }
    }
    return view;
  }

  template <std::size_t... Index>
  void restart_triggers(std::index_sequence<Index...>) {
    (restart_trigger<Index>(), ...);
  }
  template <std::size_t Index>
  TAUTLINE_INLINE void restart_trigger() {
    auto& place = this->template place<Index>();
    using trigger_type = typename core::template leaf_type<Index>::trigger_type;
    trigger_view view = look(place.hook().trigger, this->state.completed);
    view.first = !this->state.told_sessions;
    place.hook().trigger.restart(place.trigger.kept, view);
    if constexpr (fires_at_end<trigger_type>) place.trigger.handled = false;
  }

  // --- events for all hooks ---------------------------------------------------------------------------------------

  /// Calls one callback of all hooks in order. @return false after the first failure, which is reported
  template <callback Where, class Callback, std::size_t... Index, class... Arguments>
  bool tell(life& at, std::index_sequence<Index...>, Arguments&... arguments) {
    return (true && ... && tell_one<Where, Callback, Index>(at, arguments...));
  }
  template <callback Where, class Callback, std::size_t Index, class... Arguments>
  TAUTLINE_INLINE bool tell_one(life& at, Arguments&... arguments) {
    using hook = hook_type<Index>;
    constexpr form how = form_with<Callback, hook, Arguments...>();
    if constexpr (how == form::absent) {
      return true;
    } else {
      access::enter(at, Where, Index);
      TAUTLINE_TRY {
        if constexpr (Where == callback::end) access::enter(at, Where, Index, due_at_end<Index>());
        call<Callback, how>(this->template place<Index>().hook(), at, arguments...);
      }
      TAUTLINE_CATCH_ALL {
        report_exception(at);
        return false;
      }
      bool const well = !access::failed(at);
      access::forgive(at);
      return well;
    }
  }
  /// The same for events that every hook gets, whatever the others do.
  template <callback Where, class Callback, std::size_t... Index, class... Arguments>
  void tell_all(std::index_sequence<Index...>, Arguments&... arguments) {
    plain_life at(this->state);
    (void(tell_one<Where, Callback, Index>(at, arguments...)), ...);
  }

  template <std::size_t Index>
  bool due_at_end() {
    auto& place = this->template place<Index>();
    using trigger_type = typename std::remove_reference_t<decltype(place)>::trigger_type;
    if constexpr (fires_at_end<trigger_type>) {
      if (place.trigger.handled || !ran_in_this_session()) return false;
      trigger_view view = look(place.hook().trigger, this->state.completed);
      view.ending = true;
      return place.hook().trigger.due(place.trigger.kept, view);
    } else {
      return false;
    }
  }
  [[nodiscard]] bool ran_in_this_session() const {
    return static_cast<std::uint32_t>(this->state.completed) != this->state.completed_when_made;
  }

  void tell_error() {
    error const happened = this->error_at(0);
    tell_all<callback::on_error, on_error_callback>(filter_t<has_callback<on_error_callback>, closing>{}, happened);
  }

  void report_exception([[maybe_unused]] life& at) {
#if TAUTLINE_EXCEPTIONS
    this->state.report(access::describe_exception(access::place(at)));
#endif
  }

  // --- failures ---------------------------------------------------------------------------------------------------

  /// After an error of the session's run, or of a hook in a run, that has been reported.
  TAUTLINE_COLD outcome settle(bool from_session) {
    tell_error();
    if (from_session && settle_making()) return outcome::again;
    if (!from_session) give_up();
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
    if (this->state.reported() > 1) return false;
    if (ran_in_this_session()) {
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
        report_exception(at);
        tell_error();
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
    TAUTLINE_CATCH_ALL { report_exception(at); }
  }

  /// Closes without `end`.
  TAUTLINE_COLD void give_up() {
    this->state.now = phase::closed;
    this->state.set_stopped();
    tell_all<callback::close, close_callback>(filter_t<has_callback<close_callback>, closing>{});
    close_backend();
  }

  /// Closes in good order.
  TAUTLINE_COLD void finish() {
    this->state.now = phase::closed;
    this->state.set_stopped();
    raw_session<core> session(*this);
    tell_all<callback::end, end_callback>(filter_t<has_callback<end_callback>, closing>{}, session);
    tell_all<callback::close, close_callback>(filter_t<has_callback<close_callback>, closing>{});
    close_backend();
  }
};

}  // namespace detail
TAUTLINE_END
