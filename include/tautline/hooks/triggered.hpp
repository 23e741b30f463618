// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <limits>
#include <new>

#include <tautline/hooks/any_trigger.hpp>
#include <tautline/hooks/detail/inside.hpp>

TAUTLINE_BEGIN

/// What has passed since a triggered hook was last triggered; the first time, since the training began.
struct since_triggered {
  bool first = true;
  step_number steps = 0;
  double seconds = std::numeric_limits<double>::quiet_NaN();  ///< NaN in a session without a clock
};

namespace detail {

struct on_trigger_decoy {
  int on_trigger;
};
template <class Hook>
struct on_trigger_probe : Hook, on_trigger_decoy {};
/// The hook has a member of that name, whatever its parameters.
template <class Hook>
inline constexpr bool has_on_trigger = !requires { &on_trigger_probe<Hook>::on_trigger; };

template <class Hook, class Context, class... Values>
concept takes_trigger = requires(Hook& hook, Context& ctx, since_triggered const& since, Values&... values) {
  hook.on_trigger(ctx, since, values...);
};

/// The items of a request whose type says all, as an object.
template <class... Items>
constexpr run_args<Items...> make_asks(run_args<Items...> const*) {
  return run_args<Items...>(Items{}...);
}
template <class Hook>
concept declares_asks = inspect<typename Hook::asks>::is_request;

template <class Hook, class Context>
constexpr auto trigger_request() {
  if constexpr (!has_inside<before_run_callback, Hook> && declares_asks<Hook>) {
    return static_cast<typename Hook::asks*>(nullptr);
  } else {
    return request_inside<Hook, Context>();
  }
}

}  // namespace detail

/// Gives any hook a trigger: in the other runs it neither asks nor is told.
///
///     struct report {
///       using asks = fetches<"loss">;
///       void on_trigger(auto& ctx, since_triggered const& since, auto const& values);
///     };
///     auto session = monitored(graph, triggered{report{}, every_steps{100} | at_end});
///
/// The hook inside has `on_trigger(ctx, since, values)` or `on_trigger(ctx, since)`, or it is an ordinary one, whose
/// `before_run` and `after_run` are called in the runs that are due. A trigger of its own is replaced.
///
/// **Order** `on_trigger` when the trigger is due, after the run; with `at_end` in `end`, too, before the hook's own `end`:
/// there `ctx` is a `life`, and the values are those of the last run that this hook saw, which it asks for in every run
/// then. Where that run had no values for it, the form without values is called, if there is one. Everything else that a
/// hook is told (begin, after_create_session, end, on_error, close) it is told as ever; in `end` an ordinary one sees
/// `due()`.
/// **Cost** an empty branch in the runs that are not due.
/// **Source** TriggeredHook of TensorFlow for Scala, which runs the fetches once more in `end`, without feeds.
template <class Hook, trigger Trigger>
class triggered : public Hook {
  static constexpr bool by_trigger = detail::has_on_trigger<Hook>;
  static_assert(by_trigger || detail::has_inside<detail::before_run_callback, Hook> || detail::has_inside<detail::after_run_callback, Hook> ||
                    detail::has_inside<detail::end_callback, Hook>,
                "tautline: triggered holds a hook that has nothing to be triggered, so it would never act. Mend: give the hook "
                "on_trigger(ctx, since, values), or before_run and after_run, and make it public");
  static_assert(!detail::has_inside<detail::gate_callback, Hook>,
                "tautline: triggered holds no hook with a gate: it would look at some runs and let the others pass. Mend: give the "
                "hook a condition of its own");

 public:
  using tags = detail::tags_with_type<Hook>;

  template <class Given>
    requires(std::is_same_v<std::remove_cvref_t<Given>, Hook>)
  constexpr triggered(Given&& hook, Trigger when) : Hook(static_cast<Given&&>(hook)), trigger(static_cast<Trigger&&>(when)) {
    detail::must_be_moved<Given, Hook>();
  }

  template <class Graph>
    requires(!detail::has_inside<detail::begin_callback, Hook>)
  constexpr void begin(Graph&) {
    reset();
  }
  template <class Graph>
    requires detail::begins_by_reference<Hook, Graph>
  constexpr void begin(Graph& graph, life& at) {
    reset();
    detail::begin_inside(inside(), graph, at);
  }
  template <class Graph>
    requires detail::begins_by_value<Hook, Graph>
  constexpr auto begin(Graph&& graph, life& at) {
    reset();
    return detail::begin_inside(inside(), static_cast<Graph&&>(graph), at);
  }
  template <class Graph>
    requires detail::begins_by_copy<Hook, Graph>
  constexpr auto begin(Graph& graph, life& at) {
    reset();
    return detail::begin_inside(inside(), graph, at);
  }

  template <class Session>
    requires detail::fits_inside<detail::after_create_session_callback, Hook, Session>
  constexpr void after_create_session(Session& session, life& at) {
    restart(session);
    detail::tell_inside<detail::after_create_session_callback>(inside(), at, session);
  }
  template <class Session, class Coordinator>
    requires(!std::is_same_v<Coordinator, life> && detail::told_inside<detail::after_create_session_callback, Hook, Session, Coordinator>)
  constexpr void after_create_session(Session& session, Coordinator& coordinator, life& at) {
    restart(session);
    detail::tell_inside<detail::after_create_session_callback>(inside(), at, session, coordinator);
  }

  template <class Context>
    requires detail::fits_inside<detail::before_run_callback, Hook, Context>
  constexpr auto before_run(Context& ctx) noexcept(detail::quiet_inside<detail::before_run_callback, Hook, Context>) {
    using request = std::remove_pointer_t<decltype(detail::trigger_request<Hook, Context>())>;
    if constexpr (std::is_same_v<request, detail::no_request>) {
      if (ctx.due()) detail::tell_inside<detail::before_run_callback>(inside(), ctx, ctx);
    } else {
      std::optional<request> asked;
      if (ctx.due() || (by_trigger && detail::remembers(trigger))) {
        if constexpr (detail::has_inside<detail::before_run_callback, Hook>) {
          asked.emplace(detail::tell_inside<detail::before_run_callback>(inside(), ctx, ctx));
        } else {
          asked.emplace(detail::make_asks(static_cast<request const*>(nullptr)));
        }
      }
      return asked;
    }
  }

  template <class Context>
  constexpr void after_run(Context& ctx) noexcept(is_quiet<Context>()) {
    values_.forget();
    if (!ctx.due()) return;
    if constexpr (by_trigger) {
      tell_trigger(ctx, ctx.session());
    } else if constexpr (detail::has_inside<detail::after_run_callback, Hook>) {
      if constexpr (detail::told_inside<detail::after_run_callback, Hook, Context>) {
        detail::tell_inside<detail::after_run_callback>(inside(), ctx, ctx);
      }
    }
  }
  template <class Context, class Values>
    requires(!std::is_same_v<Values, life> &&
             (detail::takes_trigger<Hook, Context, Values> || detail::takes_trigger<Hook, Context> ||
              (!by_trigger && detail::has_inside<detail::after_run_callback, Hook> &&
               detail::told_inside<detail::after_run_callback, Hook, Context, Values>)))
  constexpr void after_run(Context& ctx, Values& values) noexcept(is_quiet<Context, Values>()) {
    if constexpr (by_trigger) {
      if constexpr (detail::takes_trigger<Hook, life, Values>) {
        if (detail::remembers(trigger)) values_.keep(values);
      }
      if (ctx.due()) tell_trigger(ctx, ctx.session(), values);
    } else {
      if (ctx.due()) detail::tell_inside<detail::after_run_callback>(inside(), ctx, ctx, values);
    }
  }

  template <class Session>
    requires detail::fits_inside<detail::end_callback, Hook, Session>
  constexpr void end(Session& session, life& at) {
    if constexpr (by_trigger) {
      if (at.due()) {
        since_triggered const since = passed(at.step(), session);
        if (!values_.tell(inside(), at, since)) {
          if constexpr (detail::takes_trigger<Hook, life>) inside().on_trigger(at, since);
        }
      }
    }
    detail::tell_inside<detail::end_callback>(inside(), at, session);
  }

  /// The state of the hook inside, and what is needed to say how much has passed.
  constexpr auto state()
    requires(by_trigger && lists_state<Hook>)
  {
    return fields{field<"hook">(inside()), field<"started">(started_), field<"triggered">(triggered_), field<"last_step">(last_step_)};
  }
  constexpr auto state()
    requires(by_trigger && stateless<Hook>)
  {
    return fields{field<"started">(started_), field<"triggered">(triggered_), field<"last_step">(last_step_)};
  }
  constexpr auto state()
    requires(!by_trigger && lists_state<Hook>)
  {
    return static_cast<Hook&>(*this).state();
  }
  static constexpr bool stateless = !by_trigger && tautline::stateless<Hook>;

  Trigger trigger;

 private:
  /// The values of the last run, as a view: they stay in the backend until the next one. Their type is known in the run
  /// only.
  class last_values {
   public:
    constexpr void forget() { tell_ = nullptr; }
    template <class Values>
    void keep(Values const& values) {
      static_assert(sizeof(Values) <= sizeof bytes_ && std::is_trivially_copyable_v<Values>);
      ::new (static_cast<void*>(bytes_)) Values(values);
      tell_ = [](Hook& hook, life& at, since_triggered const& since, std::byte* bytes) {
        hook.on_trigger(at, since, *std::launder(reinterpret_cast<Values*>(bytes)));
      };
    }
    constexpr bool tell(Hook& hook, life& at, since_triggered const& since) {
      if (tell_ == nullptr) return false;
      tell_(hook, at, since, bytes_);
      return true;
    }

   private:
    alignas(void*) std::byte bytes_[2 * sizeof(void*)];
    void (*tell_)(Hook&, life&, since_triggered const&, std::byte*) = nullptr;
  };
  struct no_values {
    static constexpr void forget() {}
    static constexpr void keep(auto const&) {}
    static constexpr bool tell(Hook&, life&, since_triggered const&) { return false; }
  };

  template <class Context, class... Values>
  static consteval bool is_quiet() {
    if constexpr (detail::takes_trigger<Hook, Context, Values...>) {
      return noexcept(std::declval<Hook&>().on_trigger(std::declval<Context&>(), std::declval<since_triggered const&>(),
                                                       std::declval<Values&>()...));
    } else if constexpr (by_trigger && sizeof...(Values) != 0) {
      return is_quiet<Context>();
    } else if constexpr (!by_trigger && detail::has_inside<detail::after_run_callback, Hook>) {
      return detail::is_quiet<detail::after_run_callback, detail::after_run_callback::form_with<Hook, Context, Values...>(),
                              Hook, Context, Values...>();
    } else {
      return true;
    }
  }

  template <class Context, class Session, class... Values>
  constexpr void tell_trigger(Context& ctx, Session const& session, Values&... values) {
    if constexpr (detail::takes_trigger<Hook, Context, Values...>) {
      since_triggered const since = passed(ctx.step(), session);
      inside().on_trigger(ctx, since, values...);
    } else if constexpr (detail::takes_trigger<Hook, Context>) {
      since_triggered const since = passed(ctx.step(), session);
      inside().on_trigger(ctx, since);
    } else {
      // one that wants values is not called in a run that gave it none
      constexpr bool may_have_values = sizeof...(Values) == 0 && (detail::declares_asks<Hook> || detail::has_inside<detail::before_run_callback, Hook>);
      static_assert(!by_trigger || may_have_values,
                    "tautline: triggered holds a hook whose on_trigger cannot be called, so it would never act. Mend: give it the "
                    "parameters (ctx, since), and values where the hook asks for some: (auto& ctx, since_triggered const& since, auto const& values)");
    }
  }

  constexpr Hook& inside() { return *this; }
  constexpr void reset() {
    values_.forget();
    started_ = triggered_ = false;
    last_step_ = 0;
  }
  template <class Session>
  constexpr void restart(Session const& session) {
    values_.forget();
    // only where nothing is known yet: what was restored counts from where the training began
    if (!started_ || session.step() < last_step_) last_step_ = session.step();
    started_ = true;
    since_ticks_ = session.ticks();
  }
  template <class Session>
  constexpr since_triggered passed(step_number step, Session const& session) {
    since_triggered since;
    since.first = !triggered_;
    since.steps = step - last_step_;
    if constexpr (std::remove_cvref_t<Session>::has_clock) {
      std::uint64_t const now = session.ticks();
      since.seconds = static_cast<double>(now - since_ticks_) / static_cast<double>(session.ticks_per_second());
      since_ticks_ = now;
    }
    triggered_ = true;
    last_step_ = step;
    return since;
  }

  [[no_unique_address]] std::conditional_t<by_trigger && fires_at_end<Trigger>, last_values, no_values> values_;
  bool started_ = false;    // a session has been made
  bool triggered_ = false;
  step_number last_step_ = 0;
  std::uint64_t since_ticks_ = 0;
};
template <class Given, trigger Trigger>
triggered(Given&&, Trigger) -> triggered<std::remove_cvref_t<Given>, Trigger>;

TAUTLINE_END
