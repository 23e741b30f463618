// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/training/tensorflow_training.hpp>

#include <tautline/hooks/any_trigger.hpp>

TAUTLINE_BEGIN
namespace detail {

/// Any trigger that counts by the completed steps or by a value of the session, as is decided at run time.
template <fixed_string Name>
struct counted_trigger {
  static constexpr auto step_name = Name;
  static constexpr bool uses_clock = true;
  static constexpr bool fires_at_end = true;
  static constexpr int flag_count = any_trigger::flag_count;

  any_trigger inner;
  bool by_value = false;

  using memory = any_trigger::memory;
  [[nodiscard]] bool wants_value() const { return by_value; }
  [[nodiscard]] bool wants_clock() const { return inner.wants_clock(); }
  [[nodiscard]] bool may_fire_at_end() const { return inner.may_fire_at_end(); }
  [[nodiscard]] std::uint64_t flags(memory const& kept) const { return inner.flags(kept); }
  void set_flags(memory& kept, std::uint64_t bits) const { inner.set_flags(kept, bits); }
  void restart(memory& kept, trigger_view const& view) const { inner.restart(kept, view); }
  [[nodiscard]] bool due(memory const& kept, trigger_view const& view) const { return inner.due(kept, view); }
  void looked(memory& kept, trigger_view const& view, bool due, bool acted) const {
    inner.looked(kept, view, due, acted);
  }
};

}  // namespace detail
TAUTLINE_END
