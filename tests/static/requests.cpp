// SPDX-License-Identifier: BSL-1.0
// What the type of a request says.
#include <optional>
#include <utility>

#include "verdicts.hpp"

using namespace verdicts;
using detail::inspect;
using detail::item_kind;
using detail::presence;

namespace {

// --- names ----------------------------------------------------------------------------------------------------------

static_assert(std::is_same_v<fetch_t<"loss">, fetch_t<"loss">>);
static_assert(!std::is_same_v<fetch_t<"loss">, fetch_t<"los">>);
static_assert(!std::is_same_v<fetch_t<"loss">, fetch_t<"lost">>);  // of one length
static_assert(!std::is_same_v<fetch_t<"">, fetch_t<" ">>);
static_assert(!std::is_same_v<names<"a", "b">, names<"b", "a">>);
static_assert(fixed_string("loss") == fixed_string("loss"));
static_assert(!(fixed_string("loss") == fixed_string("losses")));
static_assert(fixed_string("loss").size() == 4);

// --- what a request is ----------------------------------------------------------------------------------------------

template <class Type>
concept is_request = detail::request<Type>;

static_assert(is_request<fetch_t<"loss">>);
static_assert(is_request<fetch_t<"loss", float>>);
static_assert(is_request<feed_t<"rate", float>>);
static_assert(is_request<target_t<"train">>);
static_assert(is_request<run_args<>>);
static_assert(is_request<run_args<fetch_t<"loss">, run_args<target_t<"train">>>>);
static_assert(is_request<asked<fetch_t<"loss">>>);
static_assert(is_request<run_args<target_t<"train">, asked<fetch_t<"loss">>>>);
static_assert(is_request<std::optional<run_args<fetch_t<"loss">>>>);
static_assert(is_request<std::optional<fetch_t<"loss">>>);
static_assert(is_request<fetches<"loss", "w">>);

static_assert(!is_request<int>);
static_assert(!is_request<bool>);
static_assert(!is_request<char const*>);
static_assert(!is_request<names<"loss">>);
static_assert(!is_request<detail::feeder<"rate">>);  // feed<"rate"> without a value
static_assert(!is_request<std::optional<int>>);
static_assert(!is_request<run_args<fetch_t<"loss">, int>>);
static_assert(!is_request<asked<int>>);
static_assert(!is_request<run_args<run_args<asked<int>>>>);
static_assert(!is_request<detail::rejected>);

// --- how often a name is asked for ----------------------------------------------------------------------------------

template <class Request>
constexpr presence fetched(char const* name) {
  return inspect<Request>::find(item_kind::fetch, name);
}
static_assert(fetched<fetch_t<"loss">>("loss") == presence::always);
static_assert(fetched<fetch_t<"loss">>("los") == presence::never);
static_assert(fetched<fetch_t<"loss">>("losses") == presence::never);
static_assert(fetched<target_t<"loss">>("loss") == presence::never);
static_assert(fetched<asked<fetch_t<"loss">>>("loss") == presence::sometimes);
static_assert(fetched<std::optional<fetch_t<"loss">>>("loss") == presence::sometimes);
static_assert(fetched<run_args<asked<fetch_t<"loss">>, fetch_t<"loss">>>("loss") == presence::always);
static_assert(fetched<run_args<asked<fetch_t<"loss">>, fetch_t<"w">>>("loss") == presence::sometimes);
static_assert(fetched<asked<run_args<fetch_t<"loss">>>>("loss") == presence::sometimes);

// --- under how many conditions --------------------------------------------------------------------------------------

static_assert(inspect<run_args<>>::groups == 0);
static_assert(inspect<target_t<"train">>::groups == 0);
static_assert(inspect<fetches<"loss", "w">>::groups == 1);
static_assert(inspect<asked<fetch_t<"loss">, fetch_t<"w">>>::groups == 1);
static_assert(inspect<run_args<asked<fetch_t<"loss">>, fetch_t<"w">>>::groups == 2);
static_assert(inspect<run_args<asked<fetch_t<"loss">>, asked<fetch_t<"w">>>>::groups == 2);
static_assert(inspect<run_args<asked<feed_t<"rate", float>>, fetch_t<"w">>>::groups == 1);

static_assert(detail::asks_for_values<fetch_t<"loss">>);
static_assert(detail::asks_for_values<asked<target_t<"train">, fetch_t<"loss">>>);
static_assert(!detail::asks_for_values<run_args<target_t<"train">, feed_t<"rate", float>>>);

// --- values of requests, as constants -------------------------------------------------------------------------------

static_assert(inspect<asked<fetch_t<"loss">>>::wants<item_kind::fetch, "loss">(ask_if(true, fetch<"loss">)));
static_assert(!inspect<asked<fetch_t<"loss">>>::wants<item_kind::fetch, "loss">(ask_if(false, fetch<"loss">)));
static_assert(*inspect<feed_t<"rate", float>>::fed<"rate">(feed<"rate">(0.5f)) == 0.5f);
static_assert(inspect<feed_t<"rate", float>>::fed<"w">(feed<"rate">(0.5f)) == nullptr);

constexpr bool union_of_requests() {
  auto const caller = run_args{target<"train">, feed<"rate">(0.5f)};
  auto const hook = ask_if(false, fetch<"loss">);
  auto const other = fetch<"loss">;
  using first = run_request<true, names<>, std::index_sequence<0, 1>, run_args<target_t<"train">, feed_t<"rate", float>>,
                            asked<fetch_t<"loss">>>;
  using second = run_request<true, names<"loss">, std::index_sequence<0, 1>, asked<fetch_t<"loss">>, fetch_t<"loss">>;
  first const sometimes(caller, hook);
  second const published(hook, other);
  return first::find(item_kind::fetch, "loss") == presence::sometimes && !sometimes.fetches_name<"loss">() &&
         sometimes.wants<item_kind::target, "train">() && *sometimes.fed<"rate">() == 0.5f &&
         second::find(item_kind::fetch, "loss") == presence::never &&  // a hook gives it, the backend is not asked
         !published.fetches_name<"loss">();
}
static_assert(union_of_requests());

// --- how a fed value travels ----------------------------------------------------------------------------------------

struct large {
  char bytes[33];
};
struct small {
  char bytes[32];
};
struct managed {
  managed(managed const&) {}
};
static_assert(detail::feeds_by_value<float>);
static_assert(detail::feeds_by_value<small>);
static_assert(!detail::feeds_by_value<large>);
static_assert(!detail::feeds_by_value<managed>);
static_assert(!detail::feeds_by_value<char[8]>);  // an array is no value
static_assert(std::is_same_v<decltype(feed<"x">(1.0f)), feed_t<"x", float>>);
static_assert(std::is_same_v<decltype(feed<"x">(std::declval<large&>())), feed_t<"x", large>>);
static_assert(std::is_same_v<decltype(feed<"x">(std::declval<large const&>())), feed_t<"x", large>>);

// a request without values takes no space
static_assert(std::is_empty_v<run_args<fetch_t<"loss">, fetch_t<"w">, target_t<"train">>>);
static_assert(sizeof(asked<fetch_t<"loss">, fetch_t<"w">>) <= 2);

}  // namespace
