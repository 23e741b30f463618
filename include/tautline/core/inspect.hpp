// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include <tautline/core/request.hpp>

// How the library reads a request: what its type says at compile time, and what it says in one run.

TAUTLINE_BEGIN
namespace detail {

enum class item_kind : std::uint8_t { fetch, feed, target };
enum class presence : std::uint8_t { never, sometimes, always };

template <class... Types>
struct type_list {};

template <class...>
struct join;
template <>
struct join<> {
  using type = type_list<>;
};
template <class... A>
struct join<type_list<A...>> {
  using type = type_list<A...>;
};
template <class... A, class... B, class... Rest>
struct join<type_list<A...>, type_list<B...>, Rest...> : join<type_list<A..., B...>, Rest...> {};
/// Of many lists eight at a time: a session joins one of each hook.
template <class... A, class... B, class... C, class... D, class... E, class... F, class... G, class... H, class... Rest>
struct join<type_list<A...>, type_list<B...>, type_list<C...>, type_list<D...>, type_list<E...>, type_list<F...>,
            type_list<G...>, type_list<H...>, Rest...>
    : join<type_list<A..., B..., C..., D..., E..., F..., G..., H...>, Rest...> {};
template <class... Lists>
using join_t = typename join<Lists...>::type;

constexpr presence strongest(presence a, presence b) { return a < b ? b : a; }

/// Stands for an absent request: a hook without `before_run`, or one that returns nothing.
struct no_request {};

/// `std::optional<run_args<…>>` and its like, known by shape: the core includes no <optional>.
template <class Request>
concept optional_request = requires(Request const& request) {
  typename Request::value_type;
  request.has_value();
  *request;
};

/// How to read one kind of request. `find(kind, name)`: is it there; `wants<Kind, Name>(request)`: in this run;
/// `fed<Name>(request)`: the fed value or null; `fetches`: the list of `fetch_t`; `feeds`: the list of `feed_t`.
/// `groups`: how many conditions the fetches stand under, the absence of one counted as one.
template <class Request>
struct inspect {
  static constexpr bool is_request = false;
};

template <>
struct inspect<no_request> {
  static constexpr bool is_request = true;
  static constexpr int groups = 0;
  using fetches = type_list<>;
  using feeds = type_list<>;
  using targets = type_list<>;
  static constexpr presence find(item_kind, char const*) { return presence::never; }
  template <item_kind, fixed_string>
  static constexpr bool wants(no_request) {
    return false;
  }
  template <fixed_string>
  static constexpr std::nullptr_t fed(no_request) {
    return nullptr;
  }
  template <class Visit>
  static constexpr void options(no_request, Visit&) {}
};

template <class Options>
struct inspect<run_options_t<Options>> {
  static constexpr bool is_request = true;
  static constexpr int groups = 0;
  using fetches = type_list<>;
  using feeds = type_list<>;
  using targets = type_list<>;
  static constexpr presence find(item_kind, char const*) { return presence::never; }
  template <item_kind, fixed_string>
  static constexpr bool wants(run_options_t<Options> const&) {
    return false;
  }
  template <fixed_string>
  static constexpr std::nullptr_t fed(run_options_t<Options> const&) {
    return nullptr;
  }
  template <class Visit>
  static constexpr void options(run_options_t<Options> const& item, Visit& visit) {
    visit(item.value);
  }
};

/// What the three items have in common.
template <item_kind OwnKind, fixed_string Own, class Item>
struct inspect_item {
  static constexpr bool is_request = true;
  static constexpr int groups = OwnKind == item_kind::fetch ? 1 : 0;
  using fetches = std::conditional_t<OwnKind == item_kind::fetch, type_list<Item>, type_list<>>;
  using feeds = std::conditional_t<OwnKind == item_kind::feed, type_list<Item>, type_list<>>;
  using targets = std::conditional_t<OwnKind == item_kind::target, type_list<Item>, type_list<>>;
  static constexpr presence find(item_kind kind, char const* name) {
    char const* own = Own.characters;
    while (*own != 0 && *own == *name) ++own, ++name;
    return kind == OwnKind && *own == *name ? presence::always : presence::never;
  }
  template <item_kind Kind, fixed_string Name>
  static constexpr bool wants(Item const&) {
    return Kind == OwnKind && Name == Own;
  }
  template <class Visit>
  static constexpr void options(Item const&, Visit&) {}
  template <fixed_string Name>
  static constexpr auto fed(Item const& item) {
    if constexpr (OwnKind == item_kind::feed && Name == Own) {
      return &item.value();
    } else {
      return nullptr;
    }
  }
};

template <fixed_string Own, class Type>
struct inspect<fetch_t<Own, Type>> : inspect_item<item_kind::fetch, Own, fetch_t<Own, Type>> {};
template <fixed_string Own, class Value>
struct inspect<feed_t<Own, Value>> : inspect_item<item_kind::feed, Own, feed_t<Own, Value>> {};
template <fixed_string Own>
struct inspect<target_t<Own>> : inspect_item<item_kind::target, Own, target_t<Own>> {};

/// The first result that is not `nullptr_t` decides the type; at run time the first that is not null is returned.
template <class Value>
struct found_feed {
  Value value;
  friend constexpr auto operator+(found_feed a, auto b) {
    if constexpr (std::is_same_v<Value, std::nullptr_t>) {
      return b;
    } else if constexpr (std::is_same_v<decltype(b), found_feed>) {
      return found_feed{a.value != nullptr ? a.value : b.value};
    } else {
      return a;  // of two types the checks have refused
    }
  }
};

template <class... Items>
  requires(inspect<Items>::is_request && ...)
struct inspect<run_args<Items...>> {
  static constexpr bool is_request = true;
  static constexpr int unconditional = (0 + ... + (inspect<Items>::groups == 1 && !requires { Items::now; } ? 1 : 0));
  static constexpr int conditional = (0 + ... + inspect<Items>::groups) - unconditional;
  static constexpr int groups = conditional + (unconditional > 0 ? 1 : 0);
  using fetches = join_t<typename inspect<Items>::fetches...>;
  using feeds = join_t<typename inspect<Items>::feeds...>;
  using targets = join_t<typename inspect<Items>::targets...>;
  static constexpr presence find([[maybe_unused]] item_kind kind, [[maybe_unused]] char const* name) {
    presence found = presence::never;
    ((found = strongest(found, inspect<Items>::find(kind, name))), ...);
    return found;
  }
  template <item_kind Kind, fixed_string Name>
  static constexpr bool wants(run_args<Items...> const& args) {
    return args.any([]<class Item>(Item const& item) { return inspect<Item>::template wants<Kind, Name>(item); });
  }
  template <class Visit>
  static constexpr void options(run_args<Items...> const& args, Visit& visit) {
    args.each([&]<class Item>(Item const& item) { inspect<Item>::options(item, visit); });
  }
  template <fixed_string Name>
  static constexpr auto fed(run_args<Items...> const& args) {
    return fed_of<Name>(args, std::make_index_sequence<sizeof...(Items)>{});
  }

 private:
  template <fixed_string Name, std::size_t... Index>
  static constexpr auto fed_of(run_args<Items...> const& args, std::index_sequence<Index...>) {
    auto found = (found_feed<std::nullptr_t>{nullptr} + ... +
                  found_feed{inspect<Items>::template fed<Name>(static_cast<item_leaf<Index, Items> const&>(args).item)});
    return found.value;
  }
};

template <class Request, class Items>
struct inspect_conditional {
  static constexpr bool is_request = true;
  static constexpr int groups = inspect<Items>::groups;
  using fetches = typename inspect<Items>::fetches;
  using feeds = typename inspect<Items>::feeds;
  using targets = typename inspect<Items>::targets;
  static constexpr presence find(item_kind kind, char const* name) {
    return inspect<Items>::find(kind, name) == presence::never ? presence::never : presence::sometimes;
  }
};

template <class... Items>
  requires(inspect<Items>::is_request && ...)
struct inspect<asked<Items...>> : inspect_conditional<asked<Items...>, run_args<Items...>> {
  template <item_kind Kind, fixed_string Name>
  static constexpr bool wants(asked<Items...> const& request) {
    return request.now && inspect<run_args<Items...>>::template wants<Kind, Name>(request.items);
  }
  template <class Visit>
  static constexpr void options(asked<Items...> const& request, Visit& visit) {
    if (request.now) inspect<run_args<Items...>>::options(request.items, visit);
  }
  template <fixed_string Name>
  static constexpr auto fed(asked<Items...> const& request) {
    auto found = inspect<run_args<Items...>>::template fed<Name>(request.items);
    return request.now ? found : decltype(found){};
  }
};

template <optional_request Request>
  requires(inspect<typename Request::value_type>::is_request)
struct inspect<Request> : inspect_conditional<Request, typename Request::value_type> {
  using value_type = typename Request::value_type;
  template <item_kind Kind, fixed_string Name>
  static constexpr bool wants(Request const& request) {
    return request.has_value() && inspect<value_type>::template wants<Kind, Name>(*request);
  }
  template <class Visit>
  static constexpr void options(Request const& request, Visit& visit) {
    if (request.has_value()) inspect<value_type>::options(*request, visit);
  }
  template <fixed_string Name>
  static constexpr auto fed(Request const& request) {
    decltype(inspect<value_type>::template fed<Name>(*request)) found{};
    if (request.has_value()) found = inspect<value_type>::template fed<Name>(*request);
    return found;
  }
};

/// A request that asks for nothing beyond what it asks for in every run, and whether one does not ask for more.
/// Not for those that hold something: what is fed, or options.
template <class Request>
struct idle_request;
template <>
struct idle_request<no_request> {
  static constexpr no_request value() { return {}; }
  static constexpr bool is(no_request) { return true; }
};
template <fixed_string Name, class Type>
struct idle_request<fetch_t<Name, Type>> {
  static constexpr fetch_t<Name, Type> value() { return {}; }
  static constexpr bool is(fetch_t<Name, Type>) { return true; }
};
template <fixed_string Name>
struct idle_request<target_t<Name>> {
  static constexpr target_t<Name> value() { return {}; }
  static constexpr bool is(target_t<Name>) { return true; }
};
template <class... Items>
  requires(requires { idle_request<Items>::value(); } && ...)
struct idle_request<run_args<Items...>> {
  static constexpr run_args<Items...> value() { return run_args<Items...>(idle_request<Items>::value()...); }
  static constexpr bool is(run_args<Items...> const& request) {
    return !request.any([]<class Item>(Item const& item) { return !idle_request<Item>::is(item); });
  }
};
template <class... Items>
  requires(requires { idle_request<Items>::value(); } && ...)
struct idle_request<asked<Items...>> {
  static constexpr asked<Items...> value() { return {false, idle_request<run_args<Items...>>::value()}; }
  static constexpr bool is(asked<Items...> const& request) { return !request.now; }
};
template <optional_request Request>
  requires requires {
    idle_request<typename Request::value_type>::value();
    requires std::is_same_v<std::bool_constant<Request{}.has_value()>, std::false_type>;  // as one begins
  }
struct idle_request<Request> {
  static constexpr Request value() { return Request{}; }
  static constexpr bool is(Request const& request) { return !request.has_value(); }
};
template <class Request>
concept may_be_idle = requires(Request const& request) {
  { idle_request<Request>::is(request) } -> std::same_as<bool>;
};

/// An item that was refused where it was made, alone or within a request: its reason has been told.
template <class Item>
inline constexpr bool has_rejected = std::is_same_v<Item, rejected>;
template <class... Items>
inline constexpr bool has_rejected<run_args<Items...>> = (has_rejected<Items> || ...);
template <class... Items>
inline constexpr bool has_rejected<asked<Items...>> = (has_rejected<Items> || ...);

/// Anything that `before_run` may return, and that a caller may pass.
template <class Request>
concept request = inspect<Request>::is_request;

template <class Request>
inline constexpr bool asks_for_values = !std::is_same_v<typename inspect<Request>::fetches, type_list<>>;

/// Whether the fetches of `Request` are wanted in this run; known at compile time unless they are conditional.
template <class Request>
constexpr bool asks_now(Request const& asked_for) {
  return []<fixed_string First, class Type, class... Rest>(Request const& request,
                                                           type_list<fetch_t<First, Type>, Rest...>) {
    return inspect<Request>::template wants<item_kind::fetch, First>(request);
  }(asked_for, typename inspect<Request>::fetches{});
}

/// Whether the fetches of `Request` are wanted in all runs.
template <class Request>
consteval bool asks_always() {
  return []<fixed_string First, class Type, class... Rest>(type_list<fetch_t<First, Type>, Rest...>) {
    return inspect<Request>::find(item_kind::fetch, First.characters) == presence::always;
  }(typename inspect<Request>::fetches{});
}

}  // namespace detail
TAUTLINE_END
