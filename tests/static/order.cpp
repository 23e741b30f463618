// SPDX-License-Identifier: BSL-1.0
// The order of hooks as constants: rule 6.
#include <array>

#include "verdicts.hpp"

using namespace verdicts;

namespace {

/// The places of the arguments in begin, after_create_session and before_run.
template <class... Hooks>
constexpr std::array<std::size_t, sizeof...(Hooks)> opening = [] {
  std::array<std::size_t, sizeof...(Hooks)> places{};
  constexpr auto order = detail::order_of(
      detail::type_list<Hooks...>{}, detail::type_list<typename detail::declared_fetches<Hooks>::type...>{});
  static_assert(order.cycle == sizeof...(Hooks));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = order.opening[i];
  return places;
}();
/// The same in after_run, on_error, end and close.
template <class... Hooks>
constexpr std::array<std::size_t, sizeof...(Hooks)> closing = [] {
  std::array<std::size_t, sizeof...(Hooks)> places{};
  constexpr auto order = detail::order_of(
      detail::type_list<Hooks...>{}, detail::type_list<typename detail::declared_fetches<Hooks>::type...>{});
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = order.closing[i];
  return places;
}();
template <auto... Places>
constexpr std::array<std::size_t, sizeof...(Places)> places{Places...};

template <int Number>
struct plain {
  void close() {}
};
using a = plain<0>;
using b = plain<1>;
using c = plain<2>;

static_assert(opening<> == places<>);
static_assert(opening<a> == places<0>);
static_assert(opening<a, b, c> == places<0, 1, 2>);
static_assert(closing<a, b, c> == places<0, 1, 2>);

// --- relations by type ----------------------------------------------------------------------------------------------

struct before_b {
  using runs_before = hooks<b>;
  void close() {}
};
struct after_b {
  using runs_after = hooks<b>;
  void close() {}
};
static_assert(opening<b, before_b> == places<1, 0>);
static_assert(closing<b, before_b> == places<1, 0>);
static_assert(opening<before_b, b> == places<0, 1>);
static_assert(opening<after_b, b> == places<1, 0>);
static_assert(opening<after_b, a, b, c, before_b> == places<1, 3, 4, 2, 0>);
// one that is not there is ignored
static_assert(opening<after_b, a, before_b> == places<0, 1, 2>);
// all of the type are meant
static_assert(opening<b, before_b, b> == places<1, 0, 2>);
static_assert(opening<after_b, b, a, b> == places<1, 2, 3, 0>);
// itself is not
struct before_itself {
  using runs_before = hooks<before_itself>;
  void close() {}
};
static_assert(opening<before_itself, a> == places<0, 1>);

// --- by category and tag --------------------------------------------------------------------------------------------

struct a_check {
  using category = check;
  void close() {}
};
struct a_saver {
  using category = saver;
  void close() {}
};
struct my_tag {};
struct tagged {
  using tags = hooks<int, my_tag>;
  void close() {}
};
struct before_tagged {
  using runs_before = hooks<my_tag>;
  void close() {}
};
struct after_savers {
  using runs_after = hooks<saver>;
  void close() {}
};
struct before_checks {
  using runs_before = hooks<check>;
  void close() {}
};
static_assert(opening<a_saver, a_check> == places<1, 0>);
static_assert(closing<a_saver, a_check> == places<1, 0>);
static_assert(opening<a_saver, a, a_check, a_saver> == places<1, 2, 0, 3>);
static_assert(opening<tagged, a, before_tagged> == places<1, 2, 0>);
static_assert(opening<after_savers, a_saver> == places<1, 0>);
static_assert(opening<a_check, a_saver, before_checks> == places<2, 0, 1>);

// --- hook to hook ---------------------------------------------------------------------------------------------------

struct provider {
  using provides = tautline::provides<"score", float>;
  void close() {}
};
struct consumer {
  using asks = fetches<"loss", "score">;
  auto before_run(auto&) { return run_args{fetch<"loss">, fetch<"score">}; }
  void after_run(auto&, auto&) {}
};
static_assert(opening<consumer, a, provider> == places<1, 2, 0>);
static_assert(closing<consumer, a, provider> == places<1, 2, 0>);
static_assert(good<consumer, provider>);

// --- outermost ------------------------------------------------------------------------------------------------------

template <int Number>
struct outer {
  static constexpr bool outermost = true;
  void close() {}
};
struct not_outer {
  static constexpr bool outermost = false;
  void close() {}
};
static_assert(opening<a, outer<1>> == places<1, 0>);
static_assert(closing<a, outer<1>> == places<0, 1>);
// several nest: the first to open is the last to close
static_assert(opening<a, outer<1>, b, outer<2>> == places<1, 3, 0, 2>);
static_assert(closing<a, outer<1>, b, outer<2>> == places<0, 2, 3, 1>);
static_assert(opening<outer<1>, outer<2>, outer<3>> == places<0, 1, 2>);
static_assert(closing<outer<1>, outer<2>, outer<3>> == places<2, 1, 0>);
static_assert(opening<a, not_outer> == places<0, 1>);
// relations among the others stay
static_assert(opening<a_saver, outer<1>, a_check> == places<1, 2, 0>);
static_assert(closing<a_saver, outer<1>, a_check> == places<2, 0, 1>);

// --- cycles ---------------------------------------------------------------------------------------------------------

struct second;
struct first {
  using runs_before = hooks<second>;
  void close() {}
};
struct second {
  using runs_before = hooks<first>;
  void close() {}
};
static_assert(!good<first, second>);
static_assert(refused<detail::order_cycle<first, second>, first, second> ||
              refused<detail::order_cycle<second, first>, first, second>);
static_assert(good<first, a>);

// exactly those that are in the cycle are named, in its order, not those that wait for it
template <int Number>
struct ring {
  using runs_before = hooks<ring<(Number + 1) % 5>>;
  void close() {}
};
struct waits {
  using runs_after = hooks<ring<0>, ring<3>>;
  void close() {}
};
using ring_verdict = verdict_on<waits, a, ring<3>, ring<1>, ring<0>, b, ring<4>, ring<2>>;
static_assert(std::is_same_v<ring_verdict, detail::order_cycle<ring<0>, ring<1>, ring<2>, ring<3>, ring<4>>> ||
              std::is_same_v<ring_verdict, detail::order_cycle<ring<1>, ring<2>, ring<3>, ring<4>, ring<0>>> ||
              std::is_same_v<ring_verdict, detail::order_cycle<ring<2>, ring<3>, ring<4>, ring<0>, ring<1>>> ||
              std::is_same_v<ring_verdict, detail::order_cycle<ring<3>, ring<4>, ring<0>, ring<1>, ring<2>>> ||
              std::is_same_v<ring_verdict, detail::order_cycle<ring<4>, ring<0>, ring<1>, ring<2>, ring<3>>>);

// orders are template arguments: two that differ must be two (g++ 12 confuses arrays that are written in part)
template <auto Order>
struct keyed {};
static_assert(!std::is_same_v<keyed<detail::order_of(detail::type_list<a_saver, a_check>{},
                                                     detail::type_list<detail::type_list<>, detail::type_list<>>{})>,
                              keyed<detail::order_of(detail::type_list<a_check, a_saver>{},
                                                     detail::type_list<detail::type_list<>, detail::type_list<>>{})>>);

}  // namespace
