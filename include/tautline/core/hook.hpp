// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/life.hpp>
#include <tautline/core/inspect.hpp>
#include <tautline/core/trigger.hpp>
#include <tautline/core/diagnose.hpp>

TAUTLINE_BEGIN

/// Category of validity checks: before every saver, whatever the order of the arguments. `using category = check;`
struct check {};
/// Category of hooks that save checkpoints.
struct saver {};
/// Category of hooks that evaluate: in their callbacks the session runs, but does not train.
struct evaluating {};

/// The types, categories and tags of a relation: `using runs_before = hooks<nan_checker_tag, saver>;`
/// A hook is matched by its type, by its `category`, and by each type in its `tags`.
template <class... Types>
struct hooks {};

/// A hook with a name of its own, for messages, state keys, `session.hook<"a">()` and `run_with<"a">`.
template <fixed_string Name, class Hook>
struct named_hook {
  Hook hook;
};

namespace detail {

template <class>
inline constexpr bool is_hooks = false;
template <class... Types>
inline constexpr bool is_hooks<hooks<Types...>> = true;

/// `std::reference_wrapper` and its like, known by shape: the core includes no <functional>.
template <class Type>
concept reference_like = requires(Type& wrapper) {
  typename Type::type;
  { wrapper.get() } -> std::same_as<typename Type::type&>;
  requires std::is_convertible_v<Type&, typename Type::type&>;
};

template <class Hook>
struct target_of {
  using type = Hook;
};
template <reference_like Hook>
struct target_of<Hook> {
  using type = typename Hook::type;
};

/// What is known of a hook as it was given to `monitored` (`Kept`: its class, a reference to it, or a `named_hook`): how it
/// is stored, what it is, and its name. The type of a session lists `Kept`, and not this: compilers go through all types of
/// that list in the name of each of the session's functions.
template <class Kept>
struct entry {
  using stored = Kept;
  using type = typename target_of<Kept>::type;
  static constexpr fixed_string name = "";
  static constexpr char const* label = type_name<type>;
  TAUTLINE_INLINE static constexpr Kept&& hook(Kept& argument) { return static_cast<Kept&&>(argument); }
  TAUTLINE_INLINE static constexpr Kept const& hook(Kept const& argument) { return argument; }  // of a reference only
};
template <fixed_string Name, class Hook>
struct entry<named_hook<Name, Hook>> {
  using stored = Hook;
  using type = typename target_of<Hook>::type;
  static constexpr auto name = Name;
  static constexpr char const* label = name_of<Name>;
  TAUTLINE_INLINE static constexpr Hook&& hook(named_hook<Name, Hook>& argument) { return static_cast<Hook&&>(argument.hook); }
};

/// The hook's class.
template <class Kept>
using hook_of = typename entry<Kept>::type;

/// Accepts everything that a parameter of type `auto` does, and nothing else: tells a generic parameter from `life&`.
struct any_argument {};

/// A member of each callback's name. Deriving from this and from a hook makes those names ambiguous that the hook has,
/// whatever their signatures or access: to look for a name is cheap, to look whether it can be called is not.
struct callback_decoy {
  int begin, after_create_session, before_run, gate, after_run, end, on_error, close;
  int wants_save, save, after_restore;  // called by those who save and restore
};
template <class Hook>
struct callback_probe : Hook, callback_decoy {};

/// How a callback is to be called: not at all, plainly, or with a life behind its arguments.
enum class form : std::uint8_t { absent, plain, with_life };

// One struct for each callback: can it be called with these arguments, and the call. The last parameter may be a life.
// Concepts and consteval functions only: a constexpr variable of a type with a long name would be a symbol. Few functions,
// as each is compiled for each hook.
// form_with: strict if a generic last parameter is no life (for `after_run` and `gate`, where it is the values).
#define TAUTLINE_CALLBACK(name, strict)                                                                       \
  template <class Hook, class... Arguments>                                                                   \
  concept takes_##name = requires(Hook& hook, Arguments&... arguments) { hook.name(arguments...); };          \
  template <class Hook>                                                                                       \
  concept names_##name = std::is_final_v<Hook> || !requires { &callback_probe<Hook>::name; };                 \
  struct name##_callback {                                                                                    \
    template <class Hook>                                                                                     \
    static consteval bool named() {                                                                           \
      return names_##name<Hook>;                                                                              \
    }                                                                                                         \
    template <class Hook, class... Arguments>                                                                 \
    static consteval bool takes() {                                                                           \
      return takes_##name<Hook, Arguments...>;                                                                \
    }                                                                                                         \
    template <class Hook, class... Arguments>                                                                 \
    static consteval bool calm() {                                                                            \
      return noexcept(std::declval<Hook&>().name(std::declval<Arguments&>()...));                             \
    }                                                                                                         \
    template <class Hook, class... Arguments>                                                                 \
    static consteval form form_with() {                                                                       \
      if constexpr (!names_##name<Hook>) {                                                                    \
        return form::absent;                                                                                  \
      } else if constexpr (takes_##name<Hook, Arguments..., life> &&                                          \
                           !takes_##name<Hook, Arguments..., any_argument>) {                                 \
        return form::with_life;                                                                               \
      } else if constexpr (takes_##name<Hook, Arguments...>) {                                                \
        return form::plain;                                                                                   \
      } else {                                                                                                \
        return !strict && takes_##name<Hook, Arguments..., life> ? form::with_life : form::absent;            \
      }                                                                                                       \
    }                                                                                                         \
    template <form Form, class Hook, class... Arguments>                                                      \
    TAUTLINE_INLINE static constexpr decltype(auto) call(Hook& hook, [[maybe_unused]] life& at,               \
                                                         Arguments&... arguments) {                           \
      if constexpr (Form == form::with_life) {                                                                \
        return hook.name(arguments..., at);                                                                   \
      } else {                                                                                                \
        return hook.name(arguments...);                                                                       \
      }                                                                                                       \
    }                                                                                                         \
  }
TAUTLINE_CALLBACK(begin, false);
TAUTLINE_CALLBACK(after_create_session, false);
TAUTLINE_CALLBACK(before_run, false);
TAUTLINE_CALLBACK(gate, true);
TAUTLINE_CALLBACK(after_run, true);
TAUTLINE_CALLBACK(end, false);
TAUTLINE_CALLBACK(on_error, false);
TAUTLINE_CALLBACK(close, false);
#undef TAUTLINE_CALLBACK

/// `begin(graph)`: by reference (returns nothing), or by value (returns the extended graph, perhaps of a new type).
enum class begin_form : std::uint8_t { absent, by_reference, by_value, by_copy };

template <class Hook, class Graph, class... Life>
consteval begin_form begin_form_of() {
  constexpr bool lvalue = requires(Hook& hook, Graph& graph, Life&... at) { hook.begin(graph, at...); };
  constexpr bool rvalue = requires(Hook& hook, Graph& graph, Life&... at) {
    hook.begin(static_cast<Graph&&>(graph), at...);
  };
  if constexpr (lvalue) {
    if constexpr (requires(Hook& hook, Graph& graph, Life&... at) {
                    { hook.begin(graph, at...) } -> std::same_as<void>;
                  }) {
      return begin_form::by_reference;
    } else {
      return rvalue ? begin_form::by_value : begin_form::by_copy;
    }
  } else {
    return rvalue ? begin_form::by_value : begin_form::absent;
  }
}

template <class Hook, class Graph>
consteval bool begin_takes_life() {
  return begin_form_of<Hook, Graph, life>() != begin_form::absent;
}
template <class Hook, class Graph>
consteval begin_form begins() {
  if constexpr (begin_takes_life<Hook, Graph>()) {
    return begin_form_of<Hook, Graph, life>();
  } else {
    return begin_form_of<Hook, Graph>();
  }
}

template <class Hook>
concept has_trigger = requires(Hook& hook) { requires trigger<std::remove_cvref_t<decltype(hook.trigger)>>; };

template <class Hook>
struct trigger_of {
  using type = never_trigger;
};
template <has_trigger Hook>
struct trigger_of<Hook> {
  using type = std::remove_cvref_t<decltype(std::declval<Hook&>().trigger)>;
};

template <class Hook>
inline constexpr bool is_outermost = requires { requires bool(Hook::outermost); };
template <class Hook>
inline constexpr bool is_singleton = requires { requires bool(Hook::singleton); };

template <class Provided>
struct provided_list {
  using type = type_list<>;
};
template <fixed_string Name, class Value>
struct provided_list<provides<Name, Value>> {
  using type = type_list<provides<Name, Value>>;
};
template <class... Provided>
struct provided_list<provides_all<Provided...>> {
  using type = type_list<Provided...>;
};

/// The list of `provides<Name, Value>` of a hook.
template <class Hook>
struct provided_by {
  using type = type_list<>;
};
template <class Hook>
  requires requires { typename Hook::provides; }
struct provided_by<Hook> : provided_list<typename Hook::provides> {};
template <class Hook>
using provided_by_t = typename provided_by<Hook>::type;

/// A session can take it in. (`std::is_move_constructible` takes fifteen classes to find that out, and an explicit constructor
/// passes.)
template <class Stored>
concept moves_in = requires(Stored& from, void (&take)(Stored)) { take(static_cast<Stored&&>(from)); };

}  // namespace detail
/// `named<"train loss">(tensor_logger<"loss">{…})`
template <fixed_string Name, class Hook>
constexpr auto named(Hook&& hook) {
  using stored = std::remove_cvref_t<Hook>;
  if constexpr (!detail::moves_in<stored>) {
    detail::hook_cannot_move<stored>::say();
    return detail::rejected{};
  } else if constexpr (!std::is_reference_v<Hook> || detail::reference_like<stored>) {
    return named_hook<Name, stored>{static_cast<Hook&&>(hook)};
  } else {
    detail::hook_is_copied<stored>::say();
    return detail::rejected{};
  }
}

TAUTLINE_END
