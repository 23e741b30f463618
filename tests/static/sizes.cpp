// SPDX-License-Identifier: BSL-1.0
// What a session takes: the graph, the hooks, the loop's memory, and little more.
#include <utility>

#include "archetypes.hpp"
#include "verdicts.hpp"

using namespace verdicts;

namespace {

template <class... Arguments>
using session_with = typename verdict_on<Arguments...>::session_type;
using finalized = decltype(toy_graph().finalize());

struct empty_hook {
  void close() {}
};
struct other_empty_hook {
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto&, auto&) {}
};
struct large_hook {
  double history[100] = {};
  void close() {}
};
struct triggered_hook {
  every_steps trigger{10};
  void after_run(auto&) {}
};
struct providing_hook {
  using provides = tautline::provides<"score", double>;
  void close() {}
};

// empty hooks take no space, many of different types neither
static_assert(sizeof(session_with<empty_hook>) == sizeof(session_with<>));
static_assert(sizeof(session_with<empty_hook, other_empty_hook>) == sizeof(session_with<>));
template <int Number>
struct numbered {
  void close() {}
};
// sixty-four, so that they do not vanish in some padding
template <int... Number>
constexpr std::size_t size_with_many(std::integer_sequence<int, Number...>) {
  return sizeof(session_with<numbered<Number>...>);
}
static_assert(size_with_many(std::make_integer_sequence<int, 64>{}) == sizeof(session_with<>));
// a name for a hook, a trigger without memory, and options without data take none
static_assert(sizeof(session_with<named_hook<"a", empty_hook>>) == sizeof(session_with<>));
struct always_due {
  static constexpr auto trigger = archetypes::minimal_trigger{};
  void after_run(auto&) {}
};
static_assert(sizeof(session_with<always_due>) == sizeof(session_with<>));

/// The promise: graph, hooks with what is kept for them (a trigger's memory, what they publish), the loop's memory, and
/// 128 bytes.
template <class Graph, std::size_t Memory, class... Hooks>
inline constexpr std::size_t promised = sizeof(Graph) + (0 + ... + sizeof(Hooks)) + Memory + 128;

static_assert(sizeof(session_with<>) <= promised<finalized, 256>);
static_assert(sizeof(session_with<empty_hook>) <= promised<finalized, 256>);
static_assert(sizeof(session_with<large_hook>) <= promised<finalized, 256, large_hook>);
static_assert(sizeof(session_with<large_hook, large_hook, empty_hook>) <= promised<finalized, 256, large_hook, large_hook>);
static_assert(sizeof(session_with<triggered_hook>) <= promised<finalized, 256, triggered_hook, every_steps::memory>);
static_assert(sizeof(session_with<triggered_hook, large_hook, other_empty_hook>) <=
              promised<finalized, 256, triggered_hook, every_steps::memory, large_hook>);
static_assert(sizeof(session_with<providing_hook>) <= promised<finalized, 256, detail::publication<double>>);
static_assert(sizeof(session_with<options<frame_bytes<64>>, empty_hook>) <= promised<finalized, 64>);
static_assert(sizeof(session_with<options<frame_bytes<512>>, empty_hook>) <= promised<finalized, 512>);
static_assert(sizeof(typename detail::monitored_plan<archetypes::minimal_backend, empty_hook>::verdict::session_type) <=
              promised<archetypes::minimal_backend, 256>);

// nothing of the graph is there twice
struct big_value {
  float data[1000];
};
using big = decltype(static_graph{}.variable<"big">(big_value{}));
static_assert(sizeof(typename detail::monitored_plan<big>::verdict::session_type) <= promised<big, 256>);

// the names that a message lists cost nothing
static_assert(std::is_empty_v<names<"a", "b">>);
static_assert(std::is_empty_v<detail::fine>);

}  // namespace
