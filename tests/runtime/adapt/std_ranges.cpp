// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <ranges>
#include <vector>

#include <tautline/adapt/ranges.hpp>

#include "../core/support.hpp"

using namespace support;
using tautline::monitored;

namespace {

auto const loss_of = [](auto const& step) { return step[fetch<"loss">]; };
auto const step_of = [](auto const& step) { return step.step(); };

template <class Range>
auto all_of(Range&& range) {
  std::vector<std::ranges::range_value_t<Range>> found;
  for (auto&& value : range) found.push_back(value);
  return found;
}

}  // namespace

TEST_CASE("steps() is a view, an input range and nothing more") {
  world of;
  auto session = monitored(backend(of));
  using range = decltype(session.steps(fetch<"loss">));
  static_assert(std::ranges::input_range<range>);
  static_assert(!std::ranges::forward_range<range>);
  static_assert(std::ranges::view<range>);
  static_assert(std::ranges::viewable_range<range&>);
  static_assert(!std::ranges::borrowed_range<range>);
  using traits = std::iterator_traits<std::ranges::iterator_t<range>>;  // of algorithms older than concepts
  static_assert(std::is_same_v<traits::iterator_category, std::input_iterator_tag>);
  CHECK(of.runs == 0);
}

TEST_CASE("take(n) makes n runs") {
  world of;
  auto session = monitored(backend(of));
  CHECK(all_of(session.steps(fetch<"loss">) | std::views::take(3) | std::views::transform(loss_of)) ==
        std::vector<float>{0.5f, 1, 1.5f});
  CHECK(of.runs == 3);
  CHECK(all_of(session.steps(fetch<"loss">) | std::views::transform(loss_of) | std::views::take(2)) ==
        std::vector<float>{2, 2.5f});
  CHECK(of.runs == 5);
  CHECK(all_of(session.steps(fetch<"loss">) | std::views::take(0) | std::views::transform(step_of)).empty());
  CHECK(of.runs == 5);
}

TEST_CASE("filter reads on until it has found the n-th match, and not one more") {
  world of;
  auto session = monitored(backend(of));
  auto const even = [](auto const& step) { return step.step() % 2 == 0; };
  CHECK(all_of(session.steps(fetch<"loss">) | std::views::filter(even) | std::views::transform(step_of) |
               std::views::take(2)) == std::vector<step_number>{2, 4});
}

TEST_CASE("take_while and drop see each run once") {
  world of;
  auto session = monitored(backend(of));
  CHECK(all_of(session.steps(fetch<"loss">) | std::views::drop(2) |
               std::views::take_while([](auto const& step) { return step.step() < 5; }) |
               std::views::transform(step_of)) == std::vector<step_number>{3, 4});
  CHECK(of.runs == 5);
}

TEST_CASE("the range ends where the loop ends") {
  world of;
  of.input_length = 4;
  auto session = monitored(backend(of));
  CHECK(all_of(session.steps(fetch<"loss">) | std::views::take(9) | std::views::transform(step_of)) ==
        std::vector<step_number>{1, 2, 3, 4});
}

TEST_CASE("algorithms take it") {
  world of;
  auto session = monitored(backend(of), stop_after{6});
  CHECK(std::ranges::count_if(session.steps(fetch<"loss">), [](auto const& step) { return step[fetch<"loss">] > 1; }) == 4);
}
