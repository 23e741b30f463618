// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/inspect.hpp>
#include <tautline/core/tensor.hpp>
#include <tautline/core/text.hpp>
#include <tautline/core/type_name.hpp>

// What has to be saved of an object, so that a resumed training goes on as if nothing had happened.

TAUTLINE_BEGIN

/// One value of an object's state, with its name. @see field
template <fixed_string Name, class Value, bool Kept = false>
struct field_t {
  static constexpr auto name = Name;
  static constexpr bool kept = Kept;
  using value_type = Value;
  Value& value;
};

namespace detail {
template <fixed_string Name, bool Kept>
struct field_maker {
  template <class Value>
  constexpr field_t<Name, Value, Kept> operator()(Value& value) const {
    return {value};
  }
};
}  // namespace detail

/// `field<"best">(best_)`: a value to be saved: a `tensor_value`, or an object that lists a state of its own.
template <fixed_string Name>
inline constexpr detail::field_maker<Name, false> field{};
/// The same for a value that is restored when a training is resumed, but not taken back when a running one goes back
/// to a checkpoint: how often it went back, say.
template <fixed_string Name>
inline constexpr detail::field_maker<Name, true> kept_field{};

/// What an object has to be found with again, as its member `state()` returns it:
///
///     auto state() { return tautline::fields{field<"best">(best_), field<"waited">(waited_)}; }
///
/// An object without anything of the kind says so: `static constexpr bool stateless = true;`. An empty class need not.
/// What `begin` must reset is what stands here: a second training begins as the first one did.
template <class... Fields>
struct fields : detail::item_list<std::make_index_sequence<sizeof...(Fields)>, Fields...> {
  using detail::item_list<std::make_index_sequence<sizeof...(Fields)>, Fields...>::item_list;
};
template <class... Fields>
fields(Fields const&...) -> fields<Fields...>;

namespace detail {
template <class>
inline constexpr bool is_fields = false;
template <class... Fields>
inline constexpr bool is_fields<fields<Fields...>> = true;
}  // namespace detail

/// Objects that list their state.
template <class Type>
concept lists_state = requires(Type& object) { requires detail::is_fields<std::remove_cvref_t<decltype(object.state())>>; };

/// Objects without state: declared, or empty.
template <class Type>
concept stateless = (requires { requires bool(Type::stateless); } || std::is_empty_v<Type>) && !lists_state<Type>;

/// `unsaved(callable)`: a callable, such as a source's, that changes itself in ways that need not be found again.
template <class Callable>
struct unsaved : Callable {
  static constexpr bool stateless = true;
};
template <class Callable>
unsaved(Callable) -> unsaved<Callable>;

/// What part of a training a value belongs to.
enum class state_group : std::uint8_t {
  variable,  ///< of the graph
  input,     ///< where an input stands, and the random numbers that it draws
  hook,      ///< what a hook lists
};
[[nodiscard]] constexpr char const* to_string(state_group group) {
  constexpr char const* names[] = {"variable", "input", "hook"};
  return names[static_cast<std::size_t>(group)];
}

/// The field of a hook in which a checkpoint holds what its trigger remembers. It may be missing: another trigger, or
/// none, is no other hook.
inline constexpr char const* trigger_field = "(trigger)";

/// One value of a training's state, whatever the types of its graph and hooks are.
struct state_item {
  state_group group = state_group::variable;
  char const* owner = "";  ///< the node or the hook, of static life: "early_stopping<"loss">", of several "…#2"
  char const* field = "";  ///< within the owner, of static life; empty for a variable
  bool kept = false;       ///< see `kept_field`
  tensor_view view{};
  void* object = nullptr;
  bool (*resize)(void* object, std::int64_t const* shape, tensor_view& view) = nullptr;  ///< null: the shape is fixed

  /// "variable/w", "input/x/position", "hook/early_stopping<"loss">/best", cut to `size - 1` characters.
  /// @return the number of characters written, without the closing zero
  std::size_t write_name(char* out, std::size_t size) const {
    detail::writer written(out, size);
    written.put(to_string(group)), written.put('/'), written.put(owner);
    if (*field != 0) written.put('/'), written.put(field);
    return static_cast<std::size_t>(written.position() - out);
  }
};

namespace detail {

/// "outer/inner", or one of them where the other is empty.
template <fixed_string Outer, fixed_string Inner>
consteval auto join_names_by_slash() {
  if constexpr (Outer.size() == 0) {
    return Inner;
  } else {
    char joined[Outer.size() + Inner.size() + 2]{};
    std::size_t length = 0;
    for (std::size_t i = 0; i < Outer.size(); ++i) joined[length++] = Outer.characters[i];
    joined[length++] = '/';
    for (std::size_t i = 0; i < Inner.size(); ++i) joined[length++] = Inner.characters[i];
    return fixed_string<sizeof joined>(joined);
  }
}

template <class Value>
bool resize_item(void* object, std::int64_t const* shape, tensor_view& view) {
  Value& value = *static_cast<Value*>(object);
  if (!tensor_traits<Value>::resize(value, shape)) return false;
  view = view_tensor(value);
  return true;
}

template <fixed_string Path, class Object, class Visit>
constexpr void visit_fields(state_item const& item, Object& object, Visit const& visit);

struct item_visit_probe {
  void operator()(state_item const&) const;
};
/// A value that calls `visit(state_item)` itself, with names of its own: what is in it is known at run time only.
template <class Value>
concept lists_items =
    requires(Value& value, state_item const& item, item_visit_probe const& visit) { value.each_item(item, visit); };

template <fixed_string Path, class Value, class Visit>
constexpr void visit_field(state_item item, Value& value, Visit const& visit) {
  static_assert(lists_items<Value> || tensor_value<Value> || lists_state<Value>,
                "tautline: a field of this type cannot be saved. Mend: list numbers, arrays and vectors of them, objects "
                "with state(), or specialise tautline::tensor_traits");
  if constexpr (lists_items<Value>) {
    static_assert(Path.size() == 0, "names made at run time cannot stand under another name: list it as field<\"\">(value)");
    value.each_item(item, visit);
  } else if constexpr (lists_state<Value>) {
    visit_fields<Path>(item, value, visit);
  } else if constexpr (tensor_value<Value>) {
    item.field = name_of<Path>;
    item.view = view_tensor(value);
    item.object = &value;
    if constexpr (requires(std::int64_t const* shape) { tensor_traits<Value>::resize(value, shape); }) {
      item.resize = &resize_item<Value>;
    }
    visit(static_cast<state_item const&>(item));
  }
}

/// Calls `visit(state_item)` for every value that the object lists, at any depth.
template <fixed_string Path, class Object, class Visit>
constexpr void visit_fields(state_item const& item, Object& object, Visit const& visit) {
  auto const listed = object.state();
  listed.each([&]<fixed_string Name, class Value, bool Kept>(field_t<Name, Value, Kept> const& found) {
    state_item inner = item;
    inner.kept = inner.kept || Kept;
    visit_field<join_names_by_slash<Path, Name>()>(inner, found.value, visit);
  });
}

}  // namespace detail
TAUTLINE_END
