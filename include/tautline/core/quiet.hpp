// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/filter.hpp>
#include <tautline/core/hook_request.hpp>

// Which hooks are looked at together. A run that comes before any of them is due is a quiet one. For each stretch of them
// one branch is taken before the run and one after it, behind which the compiler knows that they are not due: of most
// nothing is left there.

TAUTLINE_BEGIN
namespace detail {

/// What a session with such hooks remembers.
struct quiet_memory {
  step_number until = any_step;  // in runs of steps short of this none of them is due
};
struct no_quiet_memory {};
/// Stands in `until` while hooks are told of a run that is not quiet: what they move meanwhile is seen in the next one.
inline constexpr step_number nothing_moved = any_step + 1;

/// @tparam Closing the order in which hooks are told of a run
template <class Core, class Closing>
struct foreseen_hooks;
template <class Backend, class Options, class... Kept, class Closing>
struct foreseen_hooks<session_core<Backend, Options, Kept...>, Closing> {
  using core = session_core<Backend, Options, Kept...>;

  /// The hooks that a run concerns after it.
  struct is_told {
    static consteval hook_mask<sizeof...(Kept)> mask() {
      return {{(after_run_callback::named<hook_of<Kept>>() || has_trigger<hook_of<Kept>>)...}};
    }
  };
  using told = filter_t<is_told, Closing>;

  template <class Hook>
  static consteval bool has_foreseeing_trigger() {
    return has_trigger<Hook> && foresees<typename trigger_of<Hook>::type>;
  }
  /// Whether the hook's trigger foresees when it is due, and nothing else in the hook has to be looked at.
  template <class Hook>
  static consteval bool may_be_foreseen() {
    using trigger = typename trigger_of<Hook>::type;
    if constexpr (has_foreseeing_trigger<Hook>() && !uses_clock<trigger> && !counts_by_value<trigger> && !gate_callback::named<Hook>()) {
      using request = typename hook_request<core, run_args<>, Hook>::type;
      return may_be_idle<request> && std::is_move_constructible_v<request>;
    } else {
      return false;
    }
  }
  /// Those of them that have such a neighbour: for a single one the branch would be as dear as its own comparison.
  static consteval hook_mask<sizeof...(Kept)> mask() {
    constexpr int possible = (0 + ... + (has_foreseeing_trigger<hook_of<Kept>>() ? 1 : 0));
    if constexpr (possible > 1) {
      return with_neighbours<sizeof...(Kept)>({{may_be_foreseen<hook_of<Kept>>()...}}, told{});
    } else {
      return {};
    }
  }
  static consteval bool any(hook_mask<sizeof...(Kept)> const& mask) {
    for (bool const on : mask.on) {
      if (on) return true;
    }
    return false;
  }
};

}  // namespace detail
TAUTLINE_END
