// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/order.hpp>
#include <tautline/core/run_result.hpp>

TAUTLINE_BEGIN
namespace detail {

/// The request type of a hook in runs whose caller asks for `Args`.
template <class Core, class Args, class Hook>
struct hook_request {
  using context = run_context<Core, Args>;
  static consteval form asking() { return before_run_callback::form_with<Hook, context>(); }

  static constexpr auto deduce() {
    if constexpr (asking() == form::absent) {
      return static_cast<no_request*>(nullptr);
    } else {
      using returned = std::remove_cvref_t<decltype(before_run_callback::call<asking()>(
          std::declval<Hook&>(), std::declval<life&>(), std::declval<context&>()))>;
      if constexpr (std::is_void_v<returned>) {
        return static_cast<no_request*>(nullptr);
      } else {
        return static_cast<returned*>(nullptr);
      }
    }
  }
  using type = std::remove_pointer_t<decltype(deduce())>;
  using fetches = typename inspect<type>::fetches;
  using values = run_values<Core, fetches>;
  static consteval bool asks() { return asks_for_values<type>; }

  static consteval form told_values() {
    if constexpr (asks()) {
      return after_run_callback::form_with<Hook, context, values>();
    } else {
      return form::absent;
    }
  }
  static consteval form told() { return after_run_callback::form_with<Hook, context>(); }

  /// How its gate is called in runs for which it asked, and in the others.
  static consteval form gated_values() {
    if constexpr (asks()) {
      return gate_callback::form_with<Hook, context, values>();
    } else {
      return form::absent;
    }
  }
  static consteval form gated() { return gate_callback::form_with<Hook, context>(); }
};

/// What a hook declares that it may ask for, known before its graph is.
template <class Hook>
struct declared_fetches {
  using type = type_list<>;
};
template <class Hook>
  requires(inspect<typename Hook::asks>::is_request)
struct declared_fetches<Hook> {
  using type = typename inspect<typename Hook::asks>::fetches;
};

}  // namespace detail
TAUTLINE_END
