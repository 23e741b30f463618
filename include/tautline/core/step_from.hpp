// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/trigger.hpp>

TAUTLINE_BEGIN
namespace detail {

/// A trigger that counts by a value of the session instead of the completed steps.
template <fixed_string Name, trigger Inner>
struct step_from_trigger {
  static constexpr auto step_name = Name;
  static constexpr bool uses_clock = detail::uses_clock<Inner>;
  static constexpr bool fires_at_end = tautline::fires_at_end<Inner>;

  static constexpr int flag_count = detail::flag_count<Inner>();

  [[no_unique_address]] Inner inner;
  using memory = typename Inner::memory;
  [[nodiscard]] constexpr std::uint64_t flags(memory const& kept) const { return inner.flags(kept); }
  constexpr void set_flags(memory& kept, std::uint64_t bits) const { inner.set_flags(kept, bits); }
  constexpr void restart(memory& kept, trigger_view const& view) const { inner.restart(kept, view); }
  constexpr bool due(memory const& kept, trigger_view const& view) const { return inner.due(kept, view); }
  constexpr void looked(memory& kept, trigger_view const& view, bool due, bool acted) const {
    inner.looked(kept, view, due, acted);
  }
};
template <fixed_string Name>
struct step_from_maker {
  template <trigger Inner>
  constexpr step_from_trigger<Name, Inner> operator()(Inner inner) const {
    return {inner};
  }
};

}  // namespace detail

/// `step_from<"global_step">(every_steps{100} | at_end)`: looks at a stored value of the session, such as a step that
/// other workers advance, too. Before a run that is the value as it stands plus the steps that this run makes; the hook
/// acts in the run that reaches the step. The value must be readable without a run: a variable.
/// Not a part of a joined trigger: put the whole of that inside.
template <fixed_string Name>
inline constexpr detail::step_from_maker<Name> step_from{};

TAUTLINE_END
