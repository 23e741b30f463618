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

/// Options of the session's own kind, as an item of a request; a backend merges those of all parties.
template <class Options>
struct run_options_t {
  Options value;
};
/// `session.run(target<"train">, run_options(trace_level::full))`: what it means is the backend's affair, see
/// `run_request::each_options`; others ignore it.
template <class Options>
constexpr run_options_t<Options> run_options(Options const& value) {
  return {value};
}

TAUTLINE_END
