// SPDX-License-Identifier: BSL-1.0
#include <vector>

#include <range/v3/view/drop.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/take_while.hpp>
#include <range/v3/view/transform.hpp>

#include <tautline/adapt/range_v3.hpp>

#include "../core/support.hpp"

using namespace support;
using tautline::monitored;

namespace {

auto const loss_of = [](auto const& step) { return step[fetch<"loss">]; };
auto const step_of = [](auto const& step) { return step.step(); };

template <class Range>
auto all_of(Range&& range) {
  std::vector<ranges::range_value_t<Range>> found;
  for (auto&& value : range) found.push_back(value);
  return found;
}

}  // namespace

TEST_CASE("steps() is a view, an input range and nothing more") {
  world of;
  auto session = monitored(backend(of));
  using range = decltype(session.steps(fetch<"loss">));
  static_assert(ranges::input_range<range>);
  static_assert(!ranges::forward_range<range>);
  static_assert(ranges::view_<range>);
  static_assert(!ranges::borrowed_range<range>);
  CHECK(of.runs == 0);
}

TEST_CASE("take(n) makes n runs") {
  world of;
  auto session = monitored(backend(of));
  CHECK(all_of(session.steps(fetch<"loss">) | ranges::views::take(3) | ranges::views::transform(loss_of)) ==
        std::vector<float>{0.5f, 1, 1.5f});
  CHECK(of.runs == 3);
  CHECK(all_of(session.steps(fetch<"loss">) | ranges::views::transform(loss_of) | ranges::views::take(2)) ==
        std::vector<float>{2, 2.5f});
  CHECK(of.runs == 5);
  CHECK(all_of(session.steps(fetch<"loss">) | ranges::views::take(0) | ranges::views::transform(step_of)).empty());
  CHECK(of.runs == 5);
}

TEST_CASE("filter reads on until it has found the n-th match") {
  world of;
  auto session = monitored(backend(of));
  auto const even = [](auto const& step) { return step.step() % 2 == 0; };
  CHECK(all_of(session.steps(fetch<"loss">) | ranges::views::filter(even) | ranges::views::transform(step_of) |
               ranges::views::take(2)) == std::vector<step_number>{2, 4});
}

TEST_CASE("take_while and drop see each run once") {
  world of;
  auto session = monitored(backend(of));
  CHECK(all_of(session.steps(fetch<"loss">) | ranges::views::drop(2) |
               ranges::views::take_while([](auto const& step) { return step.step() < 5; }) |
               ranges::views::transform(step_of)) == std::vector<step_number>{3, 4});
  CHECK(of.runs == 5);
}

TEST_CASE("the range ends where the loop ends") {
  world of;
  of.input_length = 4;
  auto session = monitored(backend(of));
  CHECK(all_of(session.steps(fetch<"loss">) | ranges::views::take(9) | ranges::views::transform(step_of)) ==
        std::vector<step_number>{1, 2, 3, 4});
}
