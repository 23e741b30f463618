// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <limits>
#include <type_traits>

#include <tautline/core/fixed_string.hpp>

TAUTLINE_BEGIN

/// What a trigger looks at.
struct trigger_view {
  step_number step = 0;      ///< the run in progress; when a session is made and in `end` the completed steps
  step_number asked = 0;     ///< in `looked`: the step at which `due` was asked before the run
  bool first = false;        ///< in `restart`: this is the first session
  bool ending = false;       ///< `end`, after a run whose step was not handled
  std::uint64_t ticks = 0;   ///< the session's clock, for triggers that declare `uses_clock`
  std::uint64_t second = 0;  ///< ticks in a second of that clock
};

/// A trigger decides at which steps a hook acts. It is data: the hook has it as a public member named `trigger`, the
/// session keeps its memory and updates it, the hook asks `ctx.due()`.
///
/// - `restart(memory, view)` when a session was made: it has last looked at that session's step,
/// - `due(memory, view)` before a run, and in `end`: pure,
/// - `looked(memory, view, due, acted)` after a run that the hook has seen: what `due` said for this trigger, and
///   whether the hook acted, which in a joined trigger is another matter.
///
/// With `static constexpr bool fires_at_end = true` it is asked in `end`, too, and with `uses_clock` it gets the time.
///
/// A step trigger fires when a period is crossed, on completed steps N, 2N, 3N, also if steps jump.
///
/// What a resumed training must find again, beyond what follows from the step, goes into flags: `flag_count`, and
/// `flags(memory)` and `set_flags(memory, bits)`. With restored flags `restart` is told that this is not the first session.
///
/// With `step_number next_due(memory const&, step_number completed) const` it foresees when it is due: in runs of steps
/// short of that, `due` must be false and `looked` without effect. For neighbouring hooks with such triggers a session makes
/// one comparison a step. It is told of changes in the trigger itself when one of those hooks is due, at the latest. What is
/// derived from a trigger of the library, which may be due elsewhere, foresees nothing unless it says `using itself = …;`.
template <class Trigger>
concept trigger = requires(Trigger const& trigger, typename Trigger::memory& memory, trigger_view const& view) {
  trigger.restart(memory, view);
  { trigger.due(memory, view) } -> std::same_as<bool>;
  trigger.looked(memory, view, true, true);
};

namespace detail {
struct no_memory {};
/// The `next_due` of what is never due, and of what has to be asked in the next run, whatever its step is.
inline constexpr step_number no_step = std::numeric_limits<step_number>::max();
inline constexpr step_number any_step = std::numeric_limits<step_number>::min();

/// Whether `next_due` is that of a base, which knows nothing of another `due`.
template <class Trigger>
concept foresees_for_its_base = requires { typename Trigger::itself; } && !std::is_same_v<typename Trigger::itself, Trigger>;
/// Tells, as `next_due`, up to which step it need not be asked.
template <class Trigger>
concept foresees = requires(Trigger const& asked, typename Trigger::memory const& kept) {
  { asked.next_due(kept, step_number{}) } -> std::same_as<step_number>;
} && !foresees_for_its_base<Trigger>;

/// Base of triggers that remember nothing.
struct plain_trigger {
  using memory = no_memory;
  static constexpr void restart(memory, trigger_view const&) {}
  static constexpr void looked(memory, trigger_view const&, bool, bool) {}
};
template <class Trigger>
concept uses_clock = requires { requires Trigger::uses_clock; };
/// A trigger that knows only at run time whether it looks at the time has a member `bool wants_clock() const`, too.
template <class Trigger>
concept may_use_clock = uses_clock<Trigger> && requires(Trigger const& asked) {
  { asked.wants_clock() } -> std::same_as<bool>;
};
template <class Trigger>
constexpr bool wants_clock(Trigger const& asked) {
  if constexpr (may_use_clock<Trigger>) {
    return asked.wants_clock();
  } else {
    return uses_clock<Trigger>;
  }
}
}  // namespace detail

namespace detail {
/// How many bits a trigger remembers.
template <class Trigger>
consteval int flag_count() {
  if constexpr (requires { Trigger::flag_count; }) {
    return Trigger::flag_count;
  } else {
    return 0;
  }
}
/// Of triggers whose memory has `unseen`: the first run is still to come, and is wanted.
struct remembers_first {
  static constexpr int flag_count = 1;
  static constexpr std::uint64_t flags(auto const& kept) { return kept.unseen ? 1 : 0; }
  static constexpr void set_flags(auto& kept, std::uint64_t bits) { kept.unseen = (bits & 1) != 0; }
};

/// The first multiple of `length` beyond `step`, both of them not negative, without a division of 64 bits: on a machine of
/// 32 bits that is 700 bytes of the runtime library.
TAUTLINE_COLD constexpr step_number multiple_after(step_number step, step_number length) {
  auto const at = static_cast<std::uint64_t>(step), by = static_cast<std::uint64_t>(length);
  if ((at | by) >> 32 == 0) {
    std::uint32_t const periods = static_cast<std::uint32_t>(at) / static_cast<std::uint32_t>(by);
    return static_cast<step_number>((std::uint64_t{periods} + 1) * by);
  }
  std::uint64_t rest = at;
  while (rest >= by) {
    std::uint64_t part = by;
    while (part <= rest - part) part <<= 1;
    rest -= part;
  }
  return static_cast<step_number>(at - rest + by);
}
}  // namespace detail

/// Whether a trigger may fire in `end`: a hook that shows values then has to ask for them in every run.
template <class Trigger>
concept fires_at_end = requires { requires Trigger::fires_at_end; };

/// Fires when a multiple of `period` steps is reached or passed: `every_steps{100}`.
/// With `also_first` (`every_steps{.period = 100, .also_first = true}`) in the first run, too.
/// **Cost** one comparison a step; a division where it fires.
struct every_steps {
  step_number period = 1;  ///< steps, at least 1
  bool also_first = false;

  using itself = every_steps;
  static constexpr int flag_count = 1;
  struct memory {
    step_number next = 0;
    bool unseen = false;  // the first run is still to come, and is wanted
  };
  static constexpr std::uint64_t flags(memory const& kept) { return detail::remembers_first::flags(kept); }
  static constexpr void set_flags(memory& kept, std::uint64_t bits) { detail::remembers_first::set_flags(kept, bits); }
  constexpr void restart(memory& kept, trigger_view const& view) const {
    if (view.first) kept.unseen = also_first;
    kept.next = kept.unseen ? view.step + 1 : following(view.step);
  }
  static constexpr bool due(memory const& kept, trigger_view const& view) {
    return __builtin_expect(!view.ending && view.step >= kept.next, 0) != 0;  // most steps are not due
  }
  static constexpr step_number next_due(memory const& kept, step_number) { return kept.next; }
  constexpr void looked(memory& kept, trigger_view const& view, bool due, bool) const {
    if (due) kept = {following(view.step), false};
  }

 private:
  [[nodiscard]] constexpr step_number following(step_number step) const {
    step_number const length = period < 1 ? 1 : period;
    if constexpr (sizeof(void*) < sizeof(step_number)) {
      return detail::multiple_after(step, length);
    } else {
      return (step / length + 1) * length;
    }
  }
};

/// Fires when `seconds` have passed since the session was made or since the hook last acted, by the session's clock
/// (`options{with_clock{…}}`). With `also_first` in the first run, too. **Cost** a reading of the clock a step.
struct every_seconds {
  double seconds = 1;
  bool also_first = false;

  static constexpr bool uses_clock = true;
  static constexpr int flag_count = 1;
  struct memory {
    std::uint64_t since = 0;
    bool unseen = false;
  };
  static constexpr std::uint64_t flags(memory const& kept) { return detail::remembers_first::flags(kept); }
  static constexpr void set_flags(memory& kept, std::uint64_t bits) { detail::remembers_first::set_flags(kept, bits); }
  constexpr void restart(memory& kept, trigger_view const& view) const {
    if (view.first) kept.unseen = also_first;
    kept.since = view.ticks;
  }
  constexpr bool due(memory const& kept, trigger_view const& view) const {
    return !view.ending && (kept.unseen || static_cast<double>(view.ticks - kept.since) >=
                                               seconds * static_cast<double>(view.second));
  }
  static constexpr void looked(memory& kept, trigger_view const& view, bool, bool acted) {
    if (acted) kept = {view.ticks, false};
  }
};

/// Fires when a listed step is reached or passed: `at_steps{1, 10, 100}`. **Cost** a comparison for each of them.
template <std::size_t Count>
struct at_steps {
  using itself = at_steps;
  step_number steps[Count];

  template <std::convertible_to<step_number>... Steps>
  constexpr explicit(false) at_steps(Steps... listed) : steps{static_cast<step_number>(listed)...} {}

  struct memory {
    step_number last = 0;
  };
  constexpr void restart(memory& kept, trigger_view const& view) const { kept.last = view.step; }
  constexpr bool due(memory const& kept, trigger_view const& view) const {
    if (view.ending) return false;
    for (step_number listed : steps) {
      if (kept.last < listed && listed <= view.step) return true;
    }
    return false;
  }
  constexpr void looked(memory& kept, trigger_view const& view, bool, bool) const { kept.last = view.step; }
  constexpr step_number next_due(memory const& kept, step_number) const {
    step_number next = detail::no_step;
    for (step_number listed : steps) {
      if (kept.last < listed && listed < next) next = listed;
    }
    return next;
  }
};
template <class... Steps>
at_steps(Steps...) -> at_steps<sizeof...(Steps)>;

namespace detail {
struct once_trigger : remembers_first {
  using itself = once_trigger;
  struct memory {
    bool unseen = false;
  };
  static constexpr void restart(memory& kept, trigger_view const& view) {
    if (view.first) kept.unseen = true;
  }
  static constexpr bool due(memory const& kept, trigger_view const& view) { return kept.unseen && !view.ending; }
  static constexpr void looked(memory& kept, trigger_view const&, bool, bool) { kept.unseen = false; }
  static constexpr step_number next_due(memory const& kept, step_number) { return kept.unseen ? any_step : no_step; }
};
struct never_trigger : plain_trigger {
  using itself = never_trigger;
  static constexpr bool due(memory, trigger_view const&) { return false; }
  static constexpr step_number next_due(memory, step_number) { return no_step; }
};
struct at_end_trigger : plain_trigger {
  using itself = at_end_trigger;
  static constexpr bool fires_at_end = true;
  static constexpr bool due(memory, trigger_view const& view) { return view.ending; }
  static constexpr step_number next_due(memory, step_number) { return no_step; }
};
}  // namespace detail

/// Fires in the first run that the hook sees.
inline constexpr detail::once_trigger once{};
/// Does not fire; `never | at_end` only at the end.
inline constexpr detail::never_trigger never{};
/// Fires in `end`, if this session has completed a run and the hook did not act on its last step:
/// `every_steps{100} | at_end`.
inline constexpr detail::at_end_trigger at_end{};

/// True in steps beyond `step`; for use with `&`: `every_steps{10} & after{1000}`.
struct after : detail::plain_trigger {
  using itself = after;
  step_number step;
  constexpr explicit after(step_number beyond) : step(beyond) {}
  constexpr bool due(memory, trigger_view const& view) const { return view.step > step; }
  constexpr step_number next_due(memory, step_number) const { return step < detail::no_step ? step + 1 : step; }
};

/// True in steps short of `step`.
struct before : detail::plain_trigger {
  using itself = before;
  step_number step;
  constexpr explicit before(step_number limit) : step(limit) {}
  constexpr bool due(memory, trigger_view const& view) const { return view.step < step; }
  constexpr step_number next_due(memory, step_number completed) const { return completed < step ? detail::any_step : detail::no_step; }
};

/// True where `predicate(step)` is; asked once a run, and in `end`.
template <std::predicate<step_number> Predicate>
struct when : detail::plain_trigger {
  [[no_unique_address]] Predicate predicate;
  constexpr explicit when(Predicate asked) : predicate(static_cast<Predicate&&>(asked)) {}
  constexpr bool due(memory, trigger_view const& view) const { return predicate(view.step); }
};

namespace detail {

/// Two triggers joined by | or &. Both look at every run, whether or not the other one fires.
template <trigger Left, trigger Right, bool Both>
struct joined_trigger {
  using itself = joined_trigger;
  [[no_unique_address]] Left left;
  [[no_unique_address]] Right right;

  /// What a side said before the run, once more; one that remembers nothing need not be asked.
  template <class Side>
  static constexpr bool was_due(Side const& side, typename Side::memory const& kept, trigger_view const& before) {
    if constexpr (std::is_same_v<typename Side::memory, no_memory>) {
      return false;
    } else {
      return side.due(kept, before);
    }
  }

  static constexpr bool uses_clock = detail::uses_clock<Left> || detail::uses_clock<Right>;
  static constexpr bool fires_at_end = tautline::fires_at_end<Left> || tautline::fires_at_end<Right>;
  static constexpr int flag_count = detail::flag_count<Left>() + detail::flag_count<Right>();
  static_assert(flag_count <= 64, "tautline: these joined triggers have more than 64 flags to remember. Mend: join fewer");
  struct memory {
    [[no_unique_address]] typename Left::memory left;
    [[no_unique_address]] typename Right::memory right;
  };
  [[nodiscard]] constexpr std::uint64_t flags([[maybe_unused]] memory const& kept) const {
    std::uint64_t bits = 0;
    if constexpr (detail::flag_count<Right>() > 0) bits = right.flags(kept.right);
    if constexpr (detail::flag_count<Left>() > 0) bits = bits << detail::flag_count<Left>() | left.flags(kept.left);
    return bits;
  }
  constexpr void set_flags([[maybe_unused]] memory& kept, [[maybe_unused]] std::uint64_t bits) const {
    if constexpr (detail::flag_count<Left>() > 0) left.set_flags(kept.left, bits), bits >>= detail::flag_count<Left>();
    if constexpr (detail::flag_count<Right>() > 0) right.set_flags(kept.right, bits);
  }
  constexpr void restart(memory& kept, trigger_view const& view) const {
    left.restart(kept.left, view);
    right.restart(kept.right, view);
  }
  constexpr bool due(memory const& kept, trigger_view const& view) const {
    if constexpr (Both) {
      return left.due(kept.left, view) && right.due(kept.right, view);
    } else {
      return left.due(kept.left, view) || right.due(kept.right, view);
    }
  }
  constexpr void looked(memory& kept, trigger_view const& view, bool, bool acted) const {
    trigger_view before = view;
    before.step = view.asked;
    left.looked(kept.left, view, was_due(left, kept.left, before), acted);
    right.looked(kept.right, view, was_due(right, kept.right, before), acted);
  }
  /// Joined by &, one that remembers nothing need not be asked for its own sake.
  [[nodiscard]] constexpr step_number next_due(memory const& kept, step_number completed) const
    requires(foresees<Left> && foresees<Right>)
  {
    step_number const first = left.next_due(kept.left, completed);
    step_number const second = right.next_due(kept.right, completed);
    constexpr bool left_plain = std::is_same_v<typename Left::memory, no_memory>;
    constexpr bool right_plain = std::is_same_v<typename Right::memory, no_memory>;
    if constexpr (Both && left_plain && right_plain) {
      return first < second ? second : first;
    } else if constexpr (Both && left_plain) {
      return second;
    } else if constexpr (Both && right_plain) {
      return first;
    } else {
      return first < second ? first : second;
    }
  }
};

/// A trigger that counts by a value of the session instead of the completed steps: step_from.hpp.
template <class Trigger>
concept counts_by_value = requires { Trigger::step_name; };
/// One that knows only at run time whether it counts so has a member `bool wants_value() const`, too.
template <class Trigger>
constexpr bool wants_value(Trigger const& asked) {
  if constexpr (requires { { asked.wants_value() } -> std::same_as<bool>; }) {
    return asked.wants_value();
  } else {
    return true;
  }
}

}  // namespace detail

/// Fires where either does.
template <trigger Left, trigger Right>
  requires(!detail::counts_by_value<Left> && !detail::counts_by_value<Right>)
constexpr detail::joined_trigger<Left, Right, false> operator|(Left left, Right right) {
  return {left, right};
}
/// Fires where both do.
template <trigger Left, trigger Right>
  requires(!detail::counts_by_value<Left> && !detail::counts_by_value<Right>)
constexpr detail::joined_trigger<Left, Right, true> operator&(Left left, Right right) {
  return {left, right};
}

namespace detail {
// `once`, `never` and `at_end` are of types of this namespace: `tautline::once | tautline::at_end` looks here only.
using tautline::operator|;
using tautline::operator&;
}  // namespace detail

TAUTLINE_END
