// SPDX-License-Identifier: BSL-1.0
// The static graph is a type: adding a node gives another one, finalization is a property of it, a second begin is none.
#include <concepts>
#include <utility>

#include "archetypes.hpp"
#include "verdicts.hpp"

using namespace verdicts;

namespace {

using session_type = decltype(toy_graph().finalize());

static_assert(graph<graph_type>);
static_assert(!backend<graph_type>);
static_assert(backend<session_type>);
static_assert(graph<session_type>);
static_assert(graph<archetypes::minimal_graph>);
static_assert(!backend<archetypes::minimal_graph>);
static_assert(graph<archetypes::minimal_backend>);

// --- nodes ----------------------------------------------------------------------------------------------------------

static_assert(std::is_same_v<graph_type::node_names, names<"w", "rate", "loss", "train">>);
static_assert(graph_type::has<"w">);
static_assert(!graph_type::has<"v">);
static_assert(!static_graph<"">::has<"w">);
static_assert(std::is_same_v<session_type::fetchable, names<"w", "rate", "loss">>);  // "train" gives no value
static_assert(std::is_same_v<session_type::feedable, names<"rate">>);
static_assert(std::is_same_v<session_type::runnable, names<"w", "rate", "loss", "train">>);
template <class Session>
concept has_step_target = requires { Session::step_target; };
static_assert(!has_step_target<session_type>);

struct more {
  bool operator()(float&) const { return true; }
};
using with_source = decltype(static_graph{}.source<"x">(0.0f, more{}).op<"y", "x">(double_it{}).finalize());
static_assert(std::is_same_v<with_source::feedable, names<"x">>);

using with_target = decltype(toy_graph().step_target<"train">().finalize());
static_assert(has_step_target<with_target>);
static_assert(with_target::step_target == fixed_string("train"));

// --- a second begin changes nothing ---------------------------------------------------------------------------------

struct adds_square {
  struct square {
    float operator()(float w) const { return w * w; }
  };
  auto begin(auto graph) { return std::move(graph).template op<"square", "w">(square{}); }
};
using once_begun = decltype(std::declval<adds_square&>().begin(toy_graph()));
using twice_begun = decltype(std::declval<adds_square&>().begin(std::declval<once_begun>()));
static_assert(!std::is_same_v<graph_type, once_begun>);
static_assert(std::is_same_v<once_begun, twice_begun>);
static_assert(once_begun::has<"square">);
// two hooks of one class share the node
static_assert(std::is_same_v<decltype(std::declval<verdict_on<adds_square>::session_type&>().raw().backend()),
                             decltype(std::declval<verdict_on<adds_square, adds_square>::session_type&>().raw().backend())>);
// the value that a variable has is no part of its type
static_assert(std::is_same_v<decltype(toy_graph().variable<"v">(1.0f)),
                             decltype(toy_graph().variable<"v">(1.0f).variable<"v">(2.0f))>);

// --- what begin may give, and what not ------------------------------------------------------------------------------

struct gives_bool {
  bool begin(auto&) { return true; }
};
struct gives_session {
  auto begin(auto graph) { return std::move(graph).finalize(); }
};
struct is_late {
  void begin(graph_type&) {}
};
static_assert(refused<detail::begin_returns_no_graph<gives_bool, bool>, gives_bool>);
static_assert(good<gives_session>);
// hooks see the graph as those before them left it
static_assert(good<is_late, adds_square>);
static_assert(refused<detail::uncallable<is_late, "begin">, adds_square, is_late>);

// --- nodes by a hook can be asked for -------------------------------------------------------------------------------

struct asks_for_square : adds_square {
  auto before_run(auto&) { return fetch<"square">; }
  void after_run(auto&, auto&) {}
};
struct asks_for_square_of_others {
  auto before_run(auto&) { return fetch<"square">; }
  void after_run(auto&, auto&) {}
};
static_assert(good<asks_for_square>);
static_assert(good<asks_for_square_of_others, adds_square>);
static_assert(refused<detail::unknown_fetch<asks_for_square_of_others, "square", names<"w", "rate", "loss">>,
                      asks_for_square_of_others>);

// --- the first argument ---------------------------------------------------------------------------------------------

template <class... Arguments>
using verdict_with = typename detail::monitored_plan<Arguments...>::verdict;
struct uncopied_backend : archetypes::minimal_backend {
  uncopied_backend() = default;
  uncopied_backend(uncopied_backend&&) = default;
};
static_assert(verdict_with<archetypes::minimal_backend>::good);
static_assert(verdict_with<archetypes::minimal_backend&>::good);
static_assert(verdict_with<archetypes::minimal_graph const&>::good);
static_assert(verdict_with<uncopied_backend>::good);
static_assert(std::is_same_v<verdict_with<uncopied_backend&>, detail::graph_cannot_be_copied<uncopied_backend>>);
static_assert(std::is_same_v<verdict_with<int>, detail::no_graph_first<int>>);
static_assert(std::is_same_v<verdict_with<archetypes::minimal_hook>, detail::no_graph_first<archetypes::minimal_hook>>);
static_assert(std::is_same_v<verdict_with<options<>, graph_type>, detail::no_graph_first<options<>>>);

// --- which values may be fed ----------------------------------------------------------------------------------------

struct image {
  float pixels[64];
};
using with_image = decltype(static_graph{}.placeholder<"image">(image{}).placeholder<"rate">(0.1f).finalize());
static_assert(with_image::takes_feed<"image", image>());
static_assert(!with_image::takes_feed<"image", float>());
static_assert(!with_image::takes_feed<"image", std::pair<image, int>>());
static_assert(with_image::takes_feed<"rate", double>());  // small ones may convert
static_assert(with_image::takes_feed<"rate", int>());
static_assert(!with_image::takes_feed<"rate", char[5]>());
static_assert(with_image::takes_feed<"unknown", int>());  // is refused for its name

// --- plans of requests are template arguments: two that differ must be two ------------------------------------------
// (g++ 12 takes arrays for equal that were value-initialized and then written at different places)

template <auto Plan>
struct keyed {};
consteval auto plan_with(std::size_t always, std::size_t possible) {
  detail::run_plan<128> plan;
  plan.always.add(always);
  plan.possible.add(possible);
  return plan;
}
static_assert(std::is_same_v<keyed<plan_with(1, 2)>, keyed<plan_with(1, 2)>>);
static_assert(!std::is_same_v<keyed<plan_with(1, 1)>, keyed<plan_with(65, 65)>>);
static_assert(!std::is_same_v<keyed<plan_with(1, 65)>, keyed<plan_with(65, 1)>>);

// --- evaluation is constexpr ----------------------------------------------------------------------------------------

constexpr float run_once() {
  auto session = static_graph{}.variable<"w">(3.0f).op<"twice", "w">(double_it{}).finalize();
  auto const asked = fetch<"twice">;
  run_request<false, names<>, std::index_sequence<0>, fetch_t<"twice">> const request(asked);
  return session.run(request).ok() ? session.value<"twice">() : 0;
}
static_assert(run_once() == 6);

}  // namespace
