// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/adapt/ranges.hpp>

#include <iterator>

#include <tautline/core/steps.hpp>

/// The tags live in <iterator>, which the core does not include. The standard's views do without them, those of range-v3
/// (`counted_iterator`) do not.
template <class Session, class Context>
struct std::iterator_traits<tautline::steps_iterator<Session, Context>> {
  using iterator_category = std::input_iterator_tag;
  using iterator_concept = std::input_iterator_tag;
  using value_type = Context;
  using difference_type = std::ptrdiff_t;
  using reference = Context const&;
  using pointer = Context const*;
};
