// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <optional>
#include <type_traits>
#include <utility>

#include <tautline/core.hpp>

// What hooks have in common that hold another hook and decide when it is told.

TAUTLINE_BEGIN
namespace detail {

template <class Hook, class... Tags>
auto add_tag(hooks<Tags...>) -> hooks<Hook, Tags...>;
/// A relation that names the hook inside means the outer one: its type becomes a tag, beside its own tags.
template <class Hook>
using tags_with_type = decltype(add_tag<Hook>(typename tags_of<Hook>::type{}));

/// Whether the hook has the callback at all, and whether it can be called like this.
template <class Callback, class Hook>
inline constexpr bool has_inside = Callback::template named<Hook>();
template <class Callback, class Hook, class... Arguments>
concept told_inside = Callback::template form_with<Hook, Arguments...>() != form::absent;
/// For the callbacks of the outer hook: the one inside has none of the name, or one that can be called.
template <class Callback, class Hook, class... Arguments>
concept fits_inside = !has_inside<Callback, Hook> || told_inside<Callback, Hook, Arguments...>;
template <class Callback, class Hook, class... Arguments>
inline constexpr bool quiet_inside =
    !has_inside<Callback, Hook> || is_quiet<Callback, Callback::template form_with<Hook, Arguments...>(), Hook, Arguments...>();

/// Calls it, if it is there.
template <class Callback, class Hook, class... Arguments>
TAUTLINE_INLINE constexpr decltype(auto) tell_inside(Hook& hook, life& at, Arguments&... arguments) {
  if constexpr (has_inside<Callback, Hook>) {
    return Callback::template call<Callback::template form_with<Hook, Arguments...>()>(hook, at, arguments...);
  }
}

/// Its `after_restore`, in whichever form; `fits_restore` as `fits_inside`.
template <class Hook>
concept fits_restore = requires { &callback_probe<Hook>::after_restore; } || requires(Hook& hook) { hook.after_restore(); } ||
                       requires(Hook& hook, life& at) { hook.after_restore(at); };
template <class Hook>
constexpr void restore_inside([[maybe_unused]] Hook& hook, [[maybe_unused]] life& at) {
  if constexpr (requires { hook.after_restore(at); }) {
    hook.after_restore(at);
  } else if constexpr (requires { hook.after_restore(); }) {
    hook.after_restore();
  }
}

/// Its `begin`, in whichever form. @return what it returns
template <class Hook, class Graph>
constexpr decltype(auto) begin_inside(Hook& hook, Graph&& graph, life& at) {
  if constexpr (begin_takes_life<Hook, std::remove_reference_t<Graph>>()) {
    return hook.begin(static_cast<Graph&&>(graph), at);
  } else {
    return hook.begin(static_cast<Graph&&>(graph));
  }
}
template <class Hook, class Graph>
concept begins_by_reference = has_inside<begin_callback, Hook> && begins<Hook, Graph>() == begin_form::by_reference;
template <class Hook, class Graph>
concept begins_by_value = has_inside<begin_callback, Hook> && !std::is_lvalue_reference_v<Graph> &&
                          begins<Hook, Graph>() == begin_form::by_value;
template <class Hook, class Graph>
concept begins_by_copy = has_inside<begin_callback, Hook> && begins<Hook, Graph>() == begin_form::by_copy;

/// What the hook inside asks for in a run of this context; `no_request` if it never does.
template <class Hook, class Context>
constexpr auto request_inside() {
  if constexpr (!has_inside<before_run_callback, Hook>) {
    return static_cast<no_request*>(nullptr);
  } else {
    using returned = std::remove_cvref_t<decltype(tell_inside<before_run_callback>(
        std::declval<Hook&>(), std::declval<life&>(), std::declval<Context&>()))>;
    if constexpr (std::is_void_v<returned>) {
      return static_cast<no_request*>(nullptr);
    } else {
      return static_cast<returned*>(nullptr);
    }
  }
}

/// A hook goes into another one as it would go into a session: it is moved.
template <class Given, class Hook>
consteval void must_be_moved() {
  if constexpr (std::is_lvalue_reference_v<Given> || std::is_const_v<std::remove_reference_t<Given>>) {
    hook_is_copied<Hook>::say();
  }
}

template <class Hook>
consteval void must_have_a_callback() {
  static_assert(named_callbacks<Hook>::any || requires { &Hook::wants_save; },
                "tautline: the hook inside has no callback, so it would never act. Mend: give it one of begin, "
                "after_create_session, before_run, after_run, end, on_error, close, and make it public");
}

}  // namespace detail
TAUTLINE_END
