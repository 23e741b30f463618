// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <tautline/core/diagnose.hpp>

TAUTLINE_BEGIN

/// A value to read, as an item of a request. `Type` is for graphs that are objects; elsewhere the graph knows it.
template <fixed_string Name, class Type = void>
struct fetch_t {};

/// `fetch<"loss">`: asks for the value named "loss". **Cost** none: the name is in the type.
template <fixed_string Name, class Type = void>
inline constexpr fetch_t<Name, Type> fetch{};

/// A computation to run, as an item of a request.
template <fixed_string Name>
struct target_t {};

/// `target<"train">`: runs the node named "train", without reading its value.
template <fixed_string Name>
inline constexpr target_t<Name> target{};

namespace detail {
template <class Value>
inline constexpr bool feeds_by_value =
    std::is_trivially_copyable_v<Value> && !std::is_array_v<Value> && sizeof(Value) <= 32;
}

/// A value to put in, as an item of a request. Up to 32 trivially copyable bytes travel by value, anything else by
/// reference: it must live until the run is over.
template <fixed_string Name, class Value>
class feed_t {
 public:
  using value_type = Value;
  constexpr explicit feed_t(Value const& value) : value_(store(value)) {}

  [[nodiscard]] constexpr Value const& value() const {
    if constexpr (detail::feeds_by_value<Value>) {
      return value_;
    } else {
      return *value_;
    }
  }

 private:
  static constexpr decltype(auto) store(Value const& value) {
    if constexpr (detail::feeds_by_value<Value>) {
      return (value);
    } else {
      return &value;
    }
  }
  std::conditional_t<detail::feeds_by_value<Value>, Value, Value const*> value_;
};

namespace detail {

template <fixed_string Name>
struct feeder {
  template <class Value>
  constexpr feed_t<Name, Value> operator()(Value const& value) const {
    return feed_t<Name, Value>(value);
  }
  /// A large temporary would be gone before the run.
  template <class Value>
    requires(!std::is_lvalue_reference_v<Value> && !feeds_by_value<std::remove_cvref_t<Value>>)
  constexpr rejected operator()(Value&&) const {
    fed_with_a_temporary<Name, std::remove_cvref_t<Value>>::say();
    return {};
  }
};
}  // namespace detail

/// `feed<"rate">(0.1f)`: puts a value in for this run.
template <fixed_string Name>
inline constexpr detail::feeder<Name> feed{};

namespace detail {

template <std::size_t Index, class Item>
struct item_leaf {
  [[no_unique_address]] Item item;
};

template <class Indices, class... Items>
struct item_list;
template <std::size_t... Index, class... Items>
struct item_list<std::index_sequence<Index...>, Items...> : item_leaf<Index, Items>... {
  constexpr item_list() requires(sizeof...(Items) == 0) = default;
  constexpr explicit item_list(Items const&... items) requires(sizeof...(Items) != 0)
      : item_leaf<Index, Items>{items}... {}

  /// Calls `visit(item)` for each item and joins the results by `||`.
  template <class Visit>
  constexpr bool any([[maybe_unused]] Visit visit) const {
    return (false || ... || visit(static_cast<item_leaf<Index, Items> const&>(*this).item));
  }
  template <class Visit>
  constexpr void each([[maybe_unused]] Visit visit) const {
    (visit(static_cast<item_leaf<Index, Items> const&>(*this).item), ...);
  }
};

}  // namespace detail

/// A set of fetches, feeds and targets; its type is the set.
///
///     return run_args{fetch<"loss">, feed<"rate">(rate)};
///
/// A single item needs no `run_args` around it.
template <class... Items>
struct run_args : detail::item_list<std::make_index_sequence<sizeof...(Items)>, Items...> {
  using detail::item_list<std::make_index_sequence<sizeof...(Items)>, Items...>::item_list;
};
template <class... Items>
run_args(Items const&...) -> run_args<Items...>;

/// Items under a condition that is known when the run begins.
template <class... Items>
struct asked {
  bool now;
  run_args<Items...> items;
};

/// `return ask_if(ctx.due(), fetch<"loss">);` asks only where the condition holds. In the other runs the hook gets
/// `after_run(ctx)`, if it has one, and the value is not computed for it.
template <class... Items>
constexpr asked<Items...> ask_if(bool condition, Items const&... items) {
  return {condition, run_args<Items...>(items...)};
}

/// What a hook may ask for at most, as a declaration: `using asks = fetches<"loss", "accuracy">;`
template <fixed_string... Names>
using fetches = run_args<fetch_t<Names>...>;

/// Values that a hook hands to other hooks: `using provides = tautline::provides<"validation/accuracy", float>;`
/// Several go into a `provides_all<provides<…>, provides<…>>`.
template <fixed_string Name, class Value>
struct provides {
  using value_type = Value;
};
template <class... Provided>
struct provides_all {};

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
struct no_feed {
  friend constexpr std::nullptr_t operator|(no_feed, std::nullptr_t) { return nullptr; }
  template <class Value>
  friend constexpr Value const* operator|(no_feed, Value const* value) {
    return value;
  }
};
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
  template <fixed_string Name>
  static constexpr auto fed(Request const& request) {
    decltype(inspect<value_type>::template fed<Name>(*request)) found{};
    if (request.has_value()) found = inspect<value_type>::template fed<Name>(*request);
    return found;
  }
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

}  // namespace detail
TAUTLINE_END
