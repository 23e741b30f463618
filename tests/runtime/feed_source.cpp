// SPDX-License-Identifier: BSL-1.0
#include <array>

#include <doctest/doctest.h>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

namespace {

/// Elements 1, 2, 3.
auto three_elements() {
  return static_graph{}
      .source<"x">(0, [n = 0](int& x) mutable { return (x = ++n) <= 3; })
      .op<"y", "x">([](int x) { return 2 * x; });
}

struct feeds_in_step_2 {
  auto before_run(auto& ctx) { return ask_if(ctx.step() == 2, feed<"x">(100)); }
};

}  // namespace

TEST_CASE("a source that is fed is not asked") {
  auto session = monitored(three_elements());
  CHECK(session.run(fetch<"y">)[fetch<"y">] == 2);
  CHECK(session.run(fetch<"y">, feed<"x">(50))[fetch<"y">] == 100);
  CHECK(session.run(fetch<"y">)[fetch<"y">] == 4);
}

TEST_CASE("an evaluation on fed elements leaves the input where it is") {
  auto session = monitored(three_elements());
  int runs = 0;
  while (session.run(fetch<"y">)) {
    ++runs;
    CHECK(session.evaluate(fetch<"y">, feed<"x">(7))[fetch<"y">] == 14);
  }
  CHECK(runs == 3);
  CHECK(session.stop().source == stop_source::end_of_input);
}

TEST_CASE("a hook feeds a source in some runs") {
  auto session = monitored(three_elements(), feeds_in_step_2{});
  CHECK(session.run(fetch<"y">)[fetch<"y">] == 2);
  CHECK(session.run(fetch<"y">)[fetch<"y">] == 200);
  CHECK(session.run(fetch<"y">)[fetch<"y">] == 4);
}

TEST_CASE("a large element is fed by reference and copied in") {
  std::array<int, 40> given{7};
  auto session = monitored(static_graph{}
                               .source<"x">(std::array<int, 40>{}, [](auto& x) { return ++x[0] < 10; })
                               .op<"y", "x">([](auto const& x) { return x[0]; }));
  CHECK(session.run(fetch<"y">, feed<"x">(given))[fetch<"y">] == 7);
  given[0] = 0;
  CHECK(session.run(fetch<"y">)[fetch<"y">] == 8);
}
