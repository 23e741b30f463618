// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

// The verdicts that monitored() comes to, as types: what a session with these arguments is refused for, without an error.

namespace verdicts {

using namespace tautline;

struct double_it {
  constexpr float operator()(float w) const { return 2 * w; }
};
struct step_down {
  constexpr void operator()(float& w, float rate) const { w -= rate; }
};
/// "w" (variable), "rate" (placeholder), "loss" (op), "train" (update)
inline auto toy_graph() {
  return static_graph{}.variable<"w">(1.0f).placeholder<"rate">(0.1f).op<"loss", "w">(double_it{}).update<"train", "w", "rate">(
      step_down{});
}
using graph_type = decltype(toy_graph());

/// @tparam Arguments as monitored() deduces them: an lvalue is a reference
template <class... Arguments>
using verdict_on = typename detail::monitored_plan<graph_type, Arguments...>::verdict;
template <class... Arguments>
inline constexpr bool good = verdict_on<Arguments...>::good;

/// Whether the verdict on the arguments is exactly this reason.
template <class Reason, class... Arguments>
inline constexpr bool refused = std::is_same_v<Reason, verdict_on<Arguments...>>;

}  // namespace verdicts
