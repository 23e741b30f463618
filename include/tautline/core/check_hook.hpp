// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/check_feeds.hpp>
#include <tautline/core/check_training.hpp>
#include <tautline/core/near_miss.hpp>

TAUTLINE_BEGIN
namespace detail {

// --- one hook alone -------------------------------------------------------------------------------------------------

template <class Argument>
struct argument_of {
  using kept = std::remove_cvref_t<Argument>;
  using stored = typename entry<kept>::stored;
  using hook = hook_of<kept>;
  static constexpr bool moved =
      reference_like<stored> || !(std::is_lvalue_reference_v<Argument> || std::is_const_v<Argument>);
};

/// A declaration that was meant as one: not the name of the hook's class or of a base, which is a member, too.
template <class Declared, class Hook>
concept declared_by = !std::is_base_of_v<Declared, Hook>;

template <class Hook>
consteval auto check_declarations() {
  if constexpr (requires { requires declared_by<typename Hook::runs_before, Hook>; } && !has_runs_before<Hook>) {
    return wrong_declaration<Hook, "runs_before">{};
  } else if constexpr (requires { requires declared_by<typename Hook::runs_after, Hook>; } && !has_runs_after<Hook>) {
    return wrong_declaration<Hook, "runs_after">{};
  } else if constexpr (requires { requires declared_by<typename Hook::tags, Hook>; requires !is_hooks<typename Hook::tags>; }) {
    return wrong_declaration<Hook, "tags">{};
  } else if constexpr (requires { requires declared_by<typename Hook::asks, Hook>;
                                  requires !inspect<typename Hook::asks>::is_request; }) {
    return wrong_declaration<Hook, "asks">{};
  } else if constexpr (requires { requires declared_by<typename Hook::provides, Hook>; } &&
                       std::is_same_v<provided_by_t<Hook>, type_list<>>) {
    return wrong_declaration<Hook, "provides">{};
  } else {
    return fine{};
  }
}

template <class Hook>
consteval auto check_trigger() {
  return fine_or<!named_callbacks<Hook>::trigger || has_trigger<Hook>, unusable_trigger<Hook>>();
}

template <class Argument>
consteval auto check_hook() {
  using argument = argument_of<Argument>;
  using hook = std::remove_const_t<typename argument::hook>;
  if constexpr (std::is_same_v<hook, rejected>) {
    return heard{};
  } else if constexpr (is_options<hook>) {
    return options_out_of_place<hook>{};
  } else if constexpr (requires { typename hook::not_a_hook; }) {  // the beginning of one: its type knows what is missing
    return typename hook::not_a_hook{};
  } else if constexpr (!std::is_class_v<hook>) {
    return no_hook_class<hook>{};
  } else if constexpr (std::is_final_v<hook>) {
    return hook_is_final<hook>{};
  } else {
    return all_fine(names_are_right<hook>(), fine_or<named_callbacks<hook>::any || saving<hook>, no_callback<hook>>(),
                    check_trigger<hook>(), check_declarations<hook>(), fine_or<argument::moved, hook_is_copied<hook>>(),
                    fine_or<moves_in<typename argument::stored>, hook_cannot_move<hook>>());
  }
}

// --- one hook in its session ----------------------------------------------------------------------------------------

template <class Hook, class Core>
consteval auto check_before_run() {
  using context = run_context<Core, run_args<>>;
  constexpr form how = before_run_callback::form_with<Hook, context>();
  if constexpr (!named_callbacks<Hook>::before_run) {
    return fine{};
  } else if constexpr (how == form::absent) {
    return uncallable<Hook, "before_run">{};
  } else {
    using returned = std::remove_cvref_t<decltype(before_run_callback::call<how>(
        std::declval<Hook&>(), std::declval<life&>(), std::declval<context&>()))>;
    if constexpr (std::is_void_v<returned>) {
      return fine{};
    } else if constexpr (has_rejected<returned>) {
      return heard{};
    } else if constexpr (!inspect<returned>::is_request) {
      return before_run_returns_no_request<Hook, returned>{};
    } else {
      return all_fine(fine_or<(inspect<returned>::groups <= 1), several_conditions<Hook, returned>>(),
                      fine_or<std::is_trivially_destructible_v<returned>, request_with_a_destructor<Hook, returned>>());
    }
  }
}

template <class Hook, class Core>
consteval auto check_after_run() {
  using info = hook_request<Core, run_args<>, Hook>;
  if constexpr (info::asks() && info::told_values() == form::absent && info::gated_values() == form::absent) {
    if constexpr (named_callbacks<Hook>::after_run && info::told() == form::absent) {
      return uncallable<Hook, "after_run">{};
    } else {
      return asking_in_vain<Hook, typename names_in<typename info::fetches>::type>{};
    }
  } else if constexpr (!named_callbacks<Hook>::after_run || info::asks() || info::told() != form::absent) {
    return fine{};
  } else if constexpr (after_run_callback::template takes<Hook, typename info::context, any_argument>()) {
    return values_without_asking<Hook>{};
  } else {
    return uncallable<Hook, "after_run">{};
  }
}

template <class Hook, class Callback, fixed_string Name, bool Named, class... Arguments>
consteval auto check_callback() {
  if constexpr (!Named) {
    return fine{};
  } else {
    return fine_or<Callback::template form_with<Hook, Arguments...>() != form::absent, uncallable<Hook, Name>>();
  }
}

template <class Hook, class Core>
consteval auto check_clock() {
  return fine_or<!uses_clock<typename trigger_of<Hook>::type> || may_use_clock<typename trigger_of<Hook>::type> ||
                     has_clock<typename Core::options_type>,
                 trigger_without_clock<Hook, typename trigger_of<Hook>::type>>();
}

/// The callbacks that most hooks do not have.
template <class Hook, class Core>
consteval auto check_rare_callbacks() {
  using has = named_callbacks<Hook>;
  using session = raw_session<Core>;
  if constexpr (!(has::after_create_session || has::end || has::on_error || has::close || has::on_enter || has::on_leave)) {
    return fine{};
  } else {
    constexpr bool may_open = takes_coordinator<Hook, session, typename Core::options_type>() ||
                              after_create_session_callback::form_with<Hook, session>() != form::absent;
    return all_fine(fine_or<!has::after_create_session || may_open, uncallable<Hook, "after_create_session">>(),
                    check_callback<Hook, end_callback, "end", has::end, session>(),
                    check_callback<Hook, on_error_callback, "on_error", has::on_error, error const>(),
                    check_callback<Hook, close_callback, "close", has::close>(),
                    fine_or<!(has::on_enter || has::on_leave) || watching<Hook>, half_watching<Hook>>());
  }
}

template <class Hook, class Backend, class Core>
consteval auto check_in_session() {
  constexpr auto before = check_before_run<Hook, Core>();
  if constexpr (!before.good) {
    return before;
  } else {
    return all_fine(check_after_run<Hook, Core>(), check_rare_callbacks<Hook, Core>(), check_clock<Hook, Core>(),
                    check_gate<Hook, Backend, Core>(), check_real_time<Hook, Core>(), check_saving<Hook>(),
                    names_exist<Hook, Backend, Core, typename hook_request<Core, run_args<>, Hook>::type>());
  }
}

}  // namespace detail
TAUTLINE_END
