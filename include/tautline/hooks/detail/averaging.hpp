// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/hooks/ema.hpp>

#include <tautline/core/hook.hpp>
#include <tautline/core/state.hpp>
#include <tautline/core/tensor.hpp>
#include <tautline/hooks/detail/finite.hpp>

// Arithmetic of averages over tensors, element by element.

TAUTLINE_BEGIN
namespace detail {

/// No way out of the loop before its end: so it is vectorised.
template <class Number>
bool all_finite(Number const* numbers, std::size_t count) noexcept {
  bool finite = true;
  for (std::size_t i = 0; i < count; ++i) finite = finite & is_finite_number(numbers[i]);
  return finite;
}
/// average += share * (value - average); with a share of 1 the very value.
template <class Number>
void blend(Number* average, Number const* value, std::size_t count, double share) noexcept {
  if (share == 1) {
    for (std::size_t i = 0; i < count; ++i) average[i] = value[i];
  } else {
    auto const part = static_cast<Number>(share);
    for (std::size_t i = 0; i < count; ++i) average[i] += part * (value[i] - average[i]);
  }
}
template <class Number>
void swap_elements(Number* a, Number* b, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    Number const kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

}  // namespace detail

/// How an `ema` averages.
struct ema_options {
  double decay = 0.999;  ///< from 0 up to, not including, 1: what remains of the average in an update
  /// false: the averages begin as the variables are when the first session is made. true: they begin as the variables are
  /// after the first update, and each counts for its share of what has been seen: no trace of the start.
  bool bias_correction = false;
};

/// Every `ema`, whatever it averages, for relations: `using runs_after = hooks<ema_tag>;`
struct ema_tag {};

namespace detail {

/// Stands for a hook that was refused, so that the one message about it stays the only one.
struct refused_ema {
  static constexpr void close() {}
};

/// How far an average has come.
struct ema_progress {
  double remaining = 1;  // decay to the power of the updates
  std::int64_t updates = 0;
  bool started = false;

  auto state() noexcept { return fields{field<"remaining">(remaining), field<"updates">(updates), field<"started">(started)}; }

  /// What the variables count for in the next update, which is counted.
  double next_share(ema_options const& how) noexcept {
    ++updates;
    remaining *= how.decay;
    return how.bias_correction ? (updates == 1 ? 1 : (1 - how.decay) / (1 - remaining)) : 1 - how.decay;
  }
};

inline void check_ema(ema_options const& how, life& at) {
  if (!(how.decay >= 0 && how.decay < 1)) {
    at.fail(error_kind::invalid_argument, {"ema: the decay is {}, not from 0 up to 1. Mend: something like 0.999", how.decay});
  }
}

/// The averages stand in for the variables as long as this lives.
template <class Averages, class Session>
class swapped {
 public:
  swapped(Averages& averages, Session const& session) : averages_(averages), session_(session) { averages_.swap(session_); }
  swapped(swapped const&) = delete;
  swapped& operator=(swapped const&) = delete;
  ~swapped() { averages_.swap(session_); }

 private:
  Averages& averages_;
  Session session_;
};

template <class Hook>
concept averaging = requires { requires bool(Hook::averages_variables); };

/// The first averaging hook among these hooks; void if there is none.
template <class... Kept>
struct find_averaging {
  using type = void;
};
template <class Kept, class... Rest>
struct find_averaging<Kept, Rest...> : find_averaging<Rest...> {};
template <class Kept, class... Rest>
  requires averaging<hook_of<Kept>>
struct find_averaging<Kept, Rest...> {
  using type = hook_of<Kept>;
};

template <class Hook>
struct after_averages {
  using type = hooks<ema_tag>;
};
template <class... Before>
struct join_relations;
template <class... Before>
struct join_relations<hooks<Before...>> {
  using type = hooks<ema_tag, Before...>;
};
template <class Hook>
  requires requires { typename Hook::runs_after; }
struct after_averages<Hook> : join_relations<typename Hook::runs_after> {};

}  // namespace detail

template <class Backend, class Options, class... Kept>
class monitored_session;

/// `with_averages(session, body)`: while `body()` runs, the variables have the averages of the session's `ema`; afterwards
/// they are, bit for bit, what they were. With an exception, too. @return what `body` returns
template <class Backend, class Options, class... Kept, class Body>
decltype(auto) with_averages(monitored_session<Backend, Options, Kept...>& session, Body&& body) {
  using hook = typename detail::find_averaging<Kept...>::type;
  static_assert(!std::is_void_v<hook>, "tautline: with_averages finds no ema among the hooks of this session. Mend: give it one");
  if constexpr (!std::is_void_v<hook>) {
    detail::swapped<hook, decltype(session.raw())> const in(session.template hook<hook>(), session.raw());
    return static_cast<Body&&>(body)();
  }
}

/// An evaluator that evaluates the averages. Category, publications, trigger and state are those of the evaluator.
template <class Averages, class Hook>
class on_averages_hook : public Hook {
 public:
  using runs_after = typename detail::after_averages<Hook>::type;

  on_averages_hook(Averages& averages, Hook hook) : Hook(static_cast<Hook&&>(hook)), averages_(&averages) {}

  template <class Context>
  void after_run(Context& ctx) {
    if (!ctx.due()) return;
    detail::swapped<Averages, decltype(ctx.session())> const in(*averages_, ctx.session());
    Hook::after_run(ctx);
  }
  template <class Session>
  void end(Session& session, life& at) {
    if (!at.due()) return;
    detail::swapped<Averages, Session> const in(*averages_, session);
    Hook::end(session, at);
  }

 private:
  Averages* averages_;
};

/// `on_averages(averages, evaluator{…})`: evaluates with the averages in place of the variables.
///
///     auto averages = ema(graph, {.decay = 0.99});
///     auto session = monitored(graph, std::ref(averages), on_averages(averages, evaluator{…}));
///
/// @param averages must outlive the session: it is looked at, not copied
template <class Averages, class Hook>
auto on_averages(Averages& averages, Hook hook) {
  return on_averages_hook<Averages, Hook>(averages, static_cast<Hook&&>(hook));
}

TAUTLINE_END
