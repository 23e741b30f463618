// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <ranges>

#include <tautline/adapt/detail/steps_traits.hpp>
#include <tautline/core/steps.hpp>

/// `session.steps(…)` as a std view:
///
///     for (float loss : session.steps(target<"train">, fetch<"loss">) | std::views::take(3)
///                         | std::views::transform([](auto const& step) { return step[fetch<"loss">]; }))
///
/// It is lazy: `take(n)` makes n runs, not one more. `filter | take(n)` reads on until it has found the n-th match, as
/// for every input range. It is a view, as copying the handle copies nothing else; it is not borrowed, as the loop is
/// over with its last handle.
template <class Session, class Context>
inline constexpr bool std::ranges::enable_view<tautline::steps_range<Session, Context>> = true;
