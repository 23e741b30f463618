// SPDX-License-Identifier: BSL-1.0
#include <utility>

#include "support.hpp"

#include <tautline/sessions/static_graph.hpp>

// A graph with more nodes than bits in a word. By itself, as g++ takes long for so many.

namespace {

using namespace support;
using tautline::ask_if;
using tautline::monitored;
using tautline::static_graph;

/// A chain n00 <- n01 <- … each of which counts its calls.
template <std::size_t At>
constexpr auto chain_name() {
  return tautline::fixed_string<4>{{'n', static_cast<char>('0' + At / 10), static_cast<char>('0' + At % 10), 0}};
}
/// No lambda: its type would have the name of the graph's in it, which has the names of all lambdas before.
struct link {
  int* calls;
  int operator()(int before = 0) const { return ++*calls, before + 1; }
};
template <std::size_t At, std::size_t Count, class Graph>
auto chained(Graph graph, int* calls) {
  if constexpr (At == Count) {
    return graph;
  } else if constexpr (At == 0) {
    return chained<1, Count>(std::move(graph).template op<chain_name<0>()>(link{calls}), calls);
  } else {
    return chained<At + 1, Count>(
        std::move(graph).template op<chain_name<At>(), chain_name<At - 1>()>(link{calls + At}), calls);
  }
}
/// Asks for a node at one step.
template <tautline::fixed_string Name>
struct asks_at {
  step_number at;
  auto before_run(auto& ctx) const { return ask_if(ctx.step() == at, fetch<Name>); }
  void after_run(auto&, auto const& values) const { CHECK(values[fetch<Name>] > 0); }
};

TEST_CASE("with more nodes than bits in a word each runs once, and only where it is needed") {
  constexpr std::size_t count = 66;
  int calls[count] = {};
  auto session = monitored(chained<0, count>(static_graph{}, calls), asks_at<"n65">{2}, asks_at<"n61">{2}, asks_at<"n63">{3},
                           asks_at<"n64">{4});
  auto const ran_up_to = [&](std::size_t last) {
    std::size_t right = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (calls[i] == (i <= last ? 1 : 0)) ++right;
      calls[i] = 0;
    }
    return right == count;
  };
  (void)session.run(fetch<"n10">);
  CHECK(ran_up_to(10));
  (void)session.run(fetch<"n62">);
  CHECK(ran_up_to(65));
  (void)session.run();
  CHECK(ran_up_to(63));
  (void)session.run();
  CHECK(ran_up_to(64));
  CHECK(session.run(fetch<"n65">)[fetch<"n65">] == 66);
  CHECK(ran_up_to(65));
}

}  // namespace
