// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <range/v3/range/concepts.hpp>

#include <tautline/adapt/detail/steps_traits.hpp>
#include <tautline/core/steps.hpp>

/// `session.steps(…)` as a view of range-v3:
///
///     for (float loss : session.steps(target<"train">, fetch<"loss">) | ranges::views::take(3)
///                         | ranges::views::transform([](auto const& step) { return step[fetch<"loss">]; }))
///
/// It is lazy, as with the standard's views: `take(n)` makes n runs. See `<tautline/adapt/ranges.hpp>`.
namespace ranges {
template <class Session, class Context>
inline constexpr bool enable_view<tautline::steps_range<Session, Context>> = true;
}
