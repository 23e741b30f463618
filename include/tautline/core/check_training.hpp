// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/check_feeds.hpp>
#include <tautline/core/diagnose_training.hpp>
#include <tautline/core/near_miss.hpp>

// What is checked of gates, of sessions that save, and of those in real-time mode.

TAUTLINE_BEGIN
namespace detail {

// --- names of hooks --------------------------------------------------------------------------------------------------

template <class First, class Second>
consteval auto names_differ() {
  return fine_or<First::name.size() == 0 || First::name != Second::name,
                 hook_name_twice<First::name, typename First::type, typename Second::type>>();
}
/// Each pair of those that have a name; there are few.
consteval auto hook_names_differ(type_list<>) { return fine{}; }
template <class First, class... Rest>
consteval auto hook_names_differ(type_list<First, Rest...>) {
  return (fine{} | ... | names_differ<First, Rest>()) | hook_names_differ(type_list<Rest...>{});
}
template <class Kept>
using if_named = std::conditional_t<entry<Kept>::name.size() != 0, type_list<entry<Kept>>, type_list<>>;

// --- gates ----------------------------------------------------------------------------------------------------------

template <class Hook>
inline constexpr bool needs_gate = requires { requires bool(Hook::needs_gate); };
template <class Hook>
inline constexpr bool needs_restorer = requires { requires bool(Hook::needs_restorer); };

template <class Hook, class Backend, class Core>
consteval auto check_gate() {
  if constexpr (!gate_callback::named<Hook>() && !needs_gate<Hook> && !needs_restorer<Hook>) {
    return fine{};
  } else {
    using info = hook_request<Core, run_args<>, Hook>;
    return fine_or<!gate_callback::named<Hook>() || info::gated_values() != form::absent || info::gated() != form::absent,
                   uncallable<Hook, "gate">>() |
           fine_or<!needs_gate<Hook> || stages<Backend>, gate_without_stages<Hook, Backend>>() |
           fine_or<!needs_restorer<Hook> || has_restorer<typename Core::options_type>, roll_back_without_checkpoints<Hook>>();
  }
}

/// No gate looks at a value of the part that it could veto.
template <class Backend, class Request, class Hook, fixed_string... Names, class... Types>
consteval auto looks_before(type_list<fetch_t<Names, Types>...>) {
  return (fine{} | ... | fine_or<!Backend::template is_late<Request, Names>(), gate_too_late<Hook, Names>>());
}
template <class Core, class Hook>
consteval bool has_gate_for_values() {
  if constexpr (gate_callback::named<Hook>()) {
    return hook_request<Core, run_args<>, Hook>::gated_values() != form::absent;
  } else {
    return false;
  }
}
template <class Backend, class Core, class Args, class... Hooks>
consteval auto gates_look_before(type_list<Hooks...>) {
  if constexpr (stages<Backend> && (false || ... || has_gate_for_values<Core, Hooks>())) {
    using request = run_request<true, typename Core::provided_names, std::make_index_sequence<sizeof...(Hooks) + 1>, Args,
                                typename hook_request<Core, run_args<>, Hooks>::type...>;
    return (fine{} | ... | [] {
      if constexpr (has_gate_for_values<Core, Hooks>()) {
        return looks_before<Backend, request, Hooks>(typename hook_request<Core, run_args<>, Hooks>::fetches{});
      } else {
        return fine{};
      }
    }());
  } else {
    return fine{};
  }
}

// --- checkpoints ----------------------------------------------------------------------------------------------------

template <class Hook>
consteval bool names_save() {
  return !requires { &callback_probe<Hook>::wants_save; } || !requires { &callback_probe<Hook>::save; };
}
/// A saver can be called as one, and what is to be told of a restored state can be told.
template <class Hook>
consteval auto check_saving() {
  constexpr bool is_told = requires { &callback_probe<Hook>::after_restore; } || requires(Hook& hook) { hook.after_restore(); } ||
                           requires(Hook& hook, life& at) { hook.after_restore(at); };
  if constexpr (is_saver<Hook> && !saving<Hook>) {
    return fine_or<!names_save<Hook>(), half_saving<Hook>>() | fine_or<is_told, uncallable_after_restore<Hook>>();
  } else {
    return fine_or<is_told, uncallable_after_restore<Hook>>();
  }
}

/// Whether anybody saves or restores the state of the hooks.
template <class Options, class... Hooks>
inline constexpr bool has_checkpoints = has_restorer<Options> || (saving<Hooks> || ...);

template <class Backend>
consteval auto check_backend_state() {
  if constexpr (requires { Backend::check_state(); }) {
    return Backend::check_state();
  } else {
    return fine{};
  }
}
/// Every field that an object lists, at any depth.
template <class Hook, class Object>
consteval auto check_fields_of();
template <class Hook, fixed_string Field, class Value>
consteval auto check_field() {
  if constexpr (lists_items<Value>) {
    return fine{};
  } else if constexpr (lists_state<Value>) {
    return check_fields_of<Hook, Value>();
  } else {
    return fine_or<tensor_value<Value>, unsaved_field<Hook, Field, Value>>();
  }
}
template <class Hook, fixed_string... Names, class... Values, bool... Kept>
consteval auto check_fields(fields<field_t<Names, Values, Kept>...> const*) {
  return (fine{} | ... | check_field<Hook, Names, Values>());
}
template <class Hook, class Object>
consteval auto check_fields_of() {
  return check_fields<Hook>(static_cast<std::remove_cvref_t<decltype(std::declval<Object&>().state())> const*>(nullptr));
}
template <class Hook>
consteval auto check_hook_state() {
  if constexpr (lists_state<Hook>) {
    return check_fields_of<Hook, Hook>();
  } else {
    return fine_or<stateless<Hook>, unlisted_state<Hook>>();
  }
}
template <class Backend, class Options, class... Hooks>
consteval auto check_states() {
  if constexpr (has_checkpoints<Options, Hooks...>) {
    return check_backend_state<Backend>() | (fine{} | ... | check_hook_state<Hooks>());
  } else {
    return fine{};
  }
}

// --- real time ------------------------------------------------------------------------------------------------------

template <class Hook>
inline constexpr bool declares_real_time = requires { requires bool(Hook::real_time); };

/// A callback that is there is noexcept.
template <class Callback, form Form, class Hook, class... Arguments>
consteval bool is_quiet() {
  if constexpr (Form == form::absent) {
    return true;
  } else if constexpr (Form == form::with_life) {
    return Callback::template calm<Hook, Arguments..., life>();
  } else {
    return Callback::template calm<Hook, Arguments...>();
  }
}
template <class Hook, class Core>
consteval auto check_real_time() {
  using info = hook_request<Core, run_args<>, Hook>;
  using context = typename info::context;
  if constexpr (!is_real_time<typename Core::options_type>) {
    return fine{};
  } else {
    constexpr bool values = is_quiet<after_run_callback, info::told_values(), Hook, context, typename info::values>() &&
                            is_quiet<gate_callback, info::gated_values(), Hook, context, typename info::values>();
    return fine_or<is_quiet<before_run_callback, info::asking(), Hook, context>(), not_real_time<Hook, "noexcept before_run">>() |
           fine_or<values && is_quiet<after_run_callback, info::told(), Hook, context>() &&
                       is_quiet<gate_callback, info::gated(), Hook, context>(),
                   not_real_time<Hook, "noexcept after_run or gate">>() |
           fine_or<declares_real_time<Hook> || !(before_run_callback::named<Hook>() || after_run_callback::named<Hook>() ||
                                                 gate_callback::named<Hook>() || watching<Hook>),
                   not_real_time<Hook, "a member real_time = true">>();
  }
}

// --- a run, as its caller asks for it -------------------------------------------------------------------------------

/// @param seeing the hooks that see this run, as a type_list
template <class Backend, class Core, class... Items, class Hooks>
consteval auto check_run(Hooks seeing) {
  constexpr auto items = check_items<the_caller_of_run, Backend, Core, Items...>();
  if constexpr (!items.good) {
    return items;
  } else {
    return caller_feeds_alone<Core, run_args<Items...>>(seeing) | gates_look_before<Backend, Core, run_args<Items...>>(seeing);
  }
}

}  // namespace detail
TAUTLINE_END
