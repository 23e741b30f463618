// SPDX-License-Identifier: BSL-1.0
// Triggers and clocks: what models the concepts, and at which steps the triggers of the core fire, as constants.
#include <array>
#include <limits>

#include "archetypes.hpp"
#include "verdicts.hpp"

using namespace verdicts;

namespace {

// --- the concepts ---------------------------------------------------------------------------------------------------

static_assert(trigger<archetypes::minimal_trigger>);
static_assert(trigger<every_steps>);
static_assert(trigger<every_seconds>);
static_assert(trigger<at_steps<3>>);
static_assert(trigger<std::remove_const_t<decltype(once)>>);
static_assert(trigger<std::remove_const_t<decltype(never)>>);
static_assert(trigger<std::remove_const_t<decltype(at_end)>>);
static_assert(trigger<after>);
static_assert(trigger<before>);
static_assert(trigger<decltype(when([](step_number) { return true; }))>);
static_assert(trigger<decltype(every_steps{10} | at_end)>);
static_assert(trigger<decltype((every_steps{10} & after{100}) | once | archetypes::minimal_trigger{})>);

struct without_memory {
  void restart(int&, trigger_view const&) const {}
  bool due(int const&, trigger_view const&) const { return true; }
  void looked(int&, trigger_view const&, bool, bool) const {}
};
struct with_a_due_that_writes : archetypes::minimal_trigger {
  bool due(memory&, trigger_view const&) { return true; }  // not const
};
struct with_a_due_of_another_type : archetypes::minimal_trigger {
  int due(memory const&, trigger_view const&) const { return 1; }
};
struct without_restart {
  struct memory {};
  bool due(memory const&, trigger_view const&) const { return true; }
  void looked(memory&, trigger_view const&, bool, bool) const {}
};
static_assert(!trigger<int>);
static_assert(!trigger<without_memory>);
static_assert(!trigger<with_a_due_that_writes>);
static_assert(!trigger<with_a_due_of_another_type>);
static_assert(!trigger<without_restart>);
static_assert(!trigger<archetypes::minimal_hook>);

template <class Left, class Right>
concept joinable = requires(Left left, Right right) { left | right; left & right; };
static_assert(joinable<every_steps, archetypes::minimal_trigger>);
static_assert(!joinable<int, every_steps>);
static_assert(!joinable<every_steps, archetypes::minimal_hook>);

static_assert(fires_at_end<std::remove_const_t<decltype(at_end)>>);
static_assert(fires_at_end<decltype(every_steps{10} | at_end)>);
static_assert(!fires_at_end<every_steps>);
static_assert(!fires_at_end<decltype(every_steps{10} | once)>);
static_assert(!fires_at_end<archetypes::minimal_trigger>);

static_assert(detail::uses_clock<every_seconds>);
static_assert(detail::uses_clock<decltype(every_steps{10} | every_seconds{1})>);
static_assert(!detail::uses_clock<decltype(every_steps{10} | at_end)>);
static_assert(!detail::uses_clock<archetypes::minimal_trigger>);

static_assert(clock_type<archetypes::minimal_clock>);
struct clock_without_rate {
  int now() { return 0; }
};
struct clock_in_floats {
  float now() { return 0; }
  int ticks_per_second() { return 1; }
};
static_assert(!clock_type<clock_without_rate>);
static_assert(!clock_type<clock_in_floats>);
static_assert(!clock_type<int>);

// --- when they fire -------------------------------------------------------------------------------------------------

template <std::size_t Count>
struct played {
  std::array<bool, Count> fired{};  ///< at each step
  int asked = 0;                    ///< how often the trigger was
};
/// What a trigger does in runs of the given steps, made one after the other from `start`.
/// @tparam Foreseen whether it is asked only from the steps on that its `next_due` told
template <bool Foreseen, class Trigger, std::size_t Count>
constexpr played<Count> play(Trigger const& trigger, step_number start, step_number const (&steps)[Count]) {
  played<Count> result;
  typename Trigger::memory memory{};
  trigger_view view;
  view.step = start;
  view.first = true;
  trigger.restart(memory, view);
  view.first = false;
  step_number quiet_until = detail::any_step;
  for (std::size_t i = 0; i < Count; ++i) {
    if (steps[i] < quiet_until) continue;
    view.step = view.asked = steps[i];
    result.fired[i] = trigger.due(memory, view);
    trigger.looked(memory, view, result.fired[i], result.fired[i]);
    if constexpr (Foreseen) quiet_until = trigger.next_due(memory, steps[i]);
    ++result.asked;
  }
  return result;
}
/// At which of the steps the trigger fires.
template <class Trigger, std::size_t Count>
constexpr std::array<bool, Count> fired(Trigger const& trigger, step_number start, step_number const (&steps)[Count]) {
  return play<false>(trigger, start, steps).fired;
}
constexpr auto is(auto... expected) { return std::array<bool, sizeof...(expected)>{(expected != 0)...}; }

static_assert(fired(every_steps{2}, 0, {1, 2, 3, 4, 5}) == is(0, 1, 0, 1, 0));
static_assert(fired(every_steps{.period = 3, .also_first = true}, 0, {1, 2, 3, 4}) == is(1, 0, 1, 0));
static_assert(fired(every_steps{10}, 0, {7, 14, 21, 28, 30}) == is(0, 1, 1, 0, 1));  // crossed, not hit
static_assert(fired(every_steps{10}, 15, {16, 19, 20, 21}) == is(0, 0, 1, 0));      // resumed within a period
static_assert(fired(every_steps{10}, 20, {21, 30}) == is(0, 1));                    // resumed on a boundary
static_assert(fired(every_steps{0}, 0, {1, 2}) == is(1, 1));
static_assert(fired(at_steps{1, 3}, 0, {1, 2, 3, 4}) == is(1, 0, 1, 0));
static_assert(fired(at_steps{3}, 0, {2, 5, 6}) == is(0, 1, 0));
static_assert(fired(at_steps{3}, 3, {4, 5}) == is(0, 0));
static_assert(fired(once, 0, {1, 2, 3}) == is(1, 0, 0));
static_assert(fired(never, 0, {1, 2, 3}) == is(0, 0, 0));
static_assert(fired(at_end, 0, {1, 2, 3}) == is(0, 0, 0));
static_assert(fired(after{2}, 0, {1, 2, 3, 4}) == is(0, 0, 1, 1));
static_assert(fired(before{3}, 0, {1, 2, 3, 4}) == is(1, 1, 0, 0));
static_assert(fired(when([](step_number step) { return step % 2 == 1; }), 0, {1, 2, 3}) == is(1, 0, 1));
static_assert(fired(every_steps{2} | at_steps{3}, 0, {1, 2, 3, 4, 5}) == is(0, 1, 1, 1, 0));
static_assert(fired(every_steps{2} & after{3}, 0, {1, 2, 3, 4, 5, 6}) == is(0, 0, 0, 1, 0, 1));

// --- and foresee it -------------------------------------------------------------------------------------------------

/// @param asked how often it has to be asked at most, in runs of the steps 1 to 20
template <class Trigger>
constexpr bool foresees_well(Trigger const& trigger, int asked) {
  constexpr step_number each[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  constexpr step_number jumps[] = {1, 1, 3, 4, 4, 4, 9, 15, 16, 17, 20, 20, 31};
  auto const foreseen = play<true>(trigger, 0, each);
  return foreseen.asked <= asked && foreseen.fired == fired(trigger, 0, each) &&
         play<true>(trigger, 2, jumps).fired == fired(trigger, 2, jumps);
}
// asked once after the start, and then where they are due
static_assert(foresees_well(every_steps{5}, 5));
static_assert(foresees_well(every_steps{.period = 6, .also_first = true}, 4));
static_assert(foresees_well(at_steps{2, 9, 15}, 4));
static_assert(foresees_well(once, 1));
static_assert(foresees_well(never, 1));
static_assert(foresees_well(at_end, 1));
static_assert(foresees_well(after{15}, 6));
static_assert(foresees_well(after{std::numeric_limits<step_number>::max()}, 1));
static_assert(foresees_well(before{6}, 6));
static_assert(foresees_well(every_steps{5} | at_end, 5));
static_assert(foresees_well(every_steps{5} | at_steps{7}, 6));
static_assert(foresees_well(every_steps{10} & after{12}, 3));
static_assert(foresees_well(after{12} & every_steps{10}, 3));
static_assert(foresees_well(after{12} & before{15}, 4));
static_assert(foresees_well(every_steps{4} & at_steps{8, 10}, 8));
static_assert(foresees_well((every_steps{4} & after{6}) | once, 6));

/// Is due in other runs, too, of which the foresight of its base knows nothing.
struct also_the_first_three : every_steps {
  static constexpr bool due(memory const& kept, trigger_view const& view) { return view.step <= 3 || every_steps::due(kept, view); }
};
static_assert(!detail::foresees<also_the_first_three>);
static_assert(!detail::foresees<decltype(also_the_first_three{} | at_end)>);
struct that_says_so : every_steps {
  using itself = that_says_so;
};
static_assert(detail::foresees<that_says_so>);

static_assert(!detail::foresees<every_seconds>);
static_assert(!detail::foresees<archetypes::minimal_trigger>);
static_assert(!detail::foresees<decltype(every_steps{10} | every_seconds{1})>);
static_assert(!detail::foresees<decltype(when([](step_number) { return true; }) & every_steps{2})>);

// --- what they remember ---------------------------------------------------------------------------------------------

static_assert(std::is_empty_v<std::remove_const_t<decltype(once)>>);
static_assert(std::is_empty_v<std::remove_const_t<decltype(never)>::memory>);
static_assert(std::is_empty_v<after::memory>);
static_assert(sizeof(every_steps::memory) <= 16);
static_assert(sizeof(decltype(every_steps{10} | at_end)::memory) == sizeof(every_steps::memory));

}  // namespace
