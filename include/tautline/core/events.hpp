// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/filter.hpp>
#include <tautline/core/quiet.hpp>
#include <tautline/core/watch.hpp>

TAUTLINE_BEGIN
namespace detail {

/// How the hooks are told: in which order, under which conditions, and with what their triggers see.
//
// This class and those that derive from it are written as specializations, for a session_core with its hooks: so the list of
// all hooks stands once in the name of each of their functions, and not once more beside it.
template <class Core>
class events;
template <class Backend, class Options, class... Kept>
class events<session_core<Backend, Options, Kept...>> : public session_core<Backend, Options, Kept...> {
 public:
  using core = session_core<Backend, Options, Kept...>;
  static constexpr std::size_t hook_count = sizeof...(Kept);
  using indices = std::make_index_sequence<hook_count>;

  template <class Args>
  using requests = type_list<typename hook_request<core, Args, hook_of<Kept>>::type...>;

  static constexpr auto begin_order = order_of(type_list<hook_of<Kept>...>{},
                                               type_list<typename declared_fetches<hook_of<Kept>>::type...>{});
  static constexpr auto run_order = order_of(
      type_list<hook_of<Kept>...>{},
      type_list<typename hook_request<core, run_args<>, hook_of<Kept>>::fetches...>{});
  using opening = typename opening_sequence<run_order, indices>::type;
  using closing = typename opening_sequence<run_order, indices>::reversed;

  using foreseen_hooks = detail::foreseen_hooks<core, closing>;
  static constexpr auto foreseen = foreseen_hooks::mask();
  static constexpr bool has_foreseen = foreseen_hooks::any(foreseen);

  template <std::size_t Index>
  using hook_type = typename core::template hook_type<Index>;
  template <class Callback>
  struct has_callback {
    static consteval hook_mask<hook_count> mask() { return {{Callback::template named<hook_of<Kept>>()...}}; }
  };
  struct is_triggered {
    static consteval hook_mask<hook_count> mask() { return {{has_trigger<hook_of<Kept>>...}}; }
  };
  struct is_watching {
    static consteval hook_mask<hook_count> mask() { return {{watching<hook_of<Kept>>...}}; }
  };
  /// The hooks that have begin, in its order.
  using beginning = filter_t<has_callback<begin_callback>, typename opening_sequence<begin_order, indices>::type>;
  /// The hooks that are told of each other's callbacks.
  using watchers = filter_if_t<(false || ... || watching<hook_of<Kept>>), is_watching, indices>;

  using core::core;

  /// Somebody has moved the memory of a trigger: none is known not to be due.
  void ask_triggers() {
    if constexpr (has_foreseen) quiet.until = any_step;
  }

  [[no_unique_address]] std::conditional_t<has_foreseen, quiet_memory, no_quiet_memory> quiet;

 protected:
  // --- what watching hooks are told -------------------------------------------------------------------------------

  /// Tells the watching hooks, for as long as the result lives, that `where` of the hook at this place is in progress.
  TAUTLINE_INLINE auto watch([[maybe_unused]] life const& at, [[maybe_unused]] callback where,
                             [[maybe_unused]] std::size_t place) {
    if constexpr (std::is_same_v<watchers, std::index_sequence<>>) {
      return unwatched{};
    } else {
      constexpr hook_role roles[] = {role_of<hook_of<Kept>>..., hook_role::none};
      return watched<events, watchers>(*this, {where, roles[place], core::hook_names[place], at.step(), place});
    }
  }
  template <class Events, class Watchers>
  friend class watched;

  // --- triggers ---------------------------------------------------------------------------------------------------

  template <class Trigger>
  TAUTLINE_INLINE trigger_view look([[maybe_unused]] Trigger const& asked, step_number step) {
    trigger_view view;
    view.step = step;
    if constexpr (counts_by_value<Trigger>) {
      if (detail::wants_value(asked)) {
        view.step = static_cast<step_number>(stored_value<Trigger::step_name, void>(this->backend)) +
                    (step - this->state.completed);
      }
    }
    if constexpr (uses_clock<Trigger>) {
      if (detail::wants_clock(asked)) {
        view.ticks = this->ticks();
        view.second = this->ticks_per_second();
      }
    }
    return view;
  }

  /// @param first neither a session before this one nor a checkpoint: what triggers remember begins
  /// @param values whether those of the session can be read; if not, triggers are restarted once more when they can be
  template <std::size_t... Index>
  void restart_triggers([[maybe_unused]] bool first, std::index_sequence<Index...>, [[maybe_unused]] bool values = true) {
    (restart_trigger<Index>(first, values), ...);
    ask_triggers();
  }
  template <std::size_t Index>
  TAUTLINE_INLINE void restart_trigger(bool first, bool values) {
    auto& place = this->template place<Index>();
    using trigger_type = typename core::template leaf_type<Index>::trigger_type;
    trigger_view view;
    if (values) view = look(place.hook().trigger, this->state.completed);
    view.first = first;
    place.hook().trigger.restart(place.trigger.kept, view);
    if constexpr (fires_at_end<trigger_type>) place.trigger.handled = any_step;
  }

  template <std::size_t Index>
  bool due_at_end() {
    auto& place = this->template place<Index>();
    using trigger_type = typename std::remove_reference_t<decltype(place)>::trigger_type;
    if constexpr (fires_at_end<trigger_type>) {
      if (place.trigger.handled == this->state.completed || !ran_in_this_session()) return false;
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

  // --- events for all hooks ---------------------------------------------------------------------------------------

  /// Calls one callback of all hooks in order. @return false after the first failure, which is reported
  template <callback Where, class Callback, std::size_t... Index, class... Arguments>
  bool tell(life& at, std::index_sequence<Index...>, Arguments&... arguments) {
    return (true && ... && tell_one<Where, Callback, Index>(at, arguments...));
  }
  template <callback Where, class Callback, std::size_t Index, class... Arguments>
  TAUTLINE_INLINE bool tell_one(life& at, Arguments&... arguments) {
    using hook = hook_type<Index>;
    constexpr form how = Callback::template form_with<hook, Arguments...>();
    if constexpr (how == form::absent) {
      return true;
    } else {
      access::enter(at, Where, Index);
      TAUTLINE_TRY {
        if constexpr (Where == callback::end) access::enter(at, Where, Index, due_at_end<Index>());
        [[maybe_unused]] auto const seen = watch(at, Where, Index);
        Callback::template call<how>(this->template place<Index>().hook(), at, arguments...);
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

  void tell_error() {
    error const happened = this->error_at(0);
    tell_all<callback::on_error, on_error_callback>(filter_t<has_callback<on_error_callback>, closing>{}, happened);
  }

  void report_exception([[maybe_unused]] life& at) {
#if TAUTLINE_EXCEPTIONS
    this->state.report(access::describe_exception(access::place(at)));
#endif
  }
};

}  // namespace detail
TAUTLINE_END
