// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/hook.hpp>
#include <tautline/core/diagnose.hpp>

TAUTLINE_BEGIN
namespace detail {

// Every name that a callback has, and the wrong names that people write for them, taken from other systems, each with
// the callback that is meant.
#define TAUTLINE_CALLBACK_NAMES(X) \
  X(begin) X(after_create_session) X(before_run) X(gate) X(after_run) X(end) X(on_error) X(close) X(on_enter) X(on_leave)
#define TAUTLINE_WRONG_NAMES(X)                                                                                  \
  X(on_begin, begin) X(onBegin, begin) X(on_train_begin, begin)                                                  \
  X(after_session, after_create_session) X(after_create, after_create_session) X(afterCreateSession, after_create_session)                              \
  X(after_session_created, after_create_session) X(after_session_creation, after_create_session)                 \
  X(afterSessionCreation, after_create_session)                                                                  \
  X(beforeRun, before_run) X(BeforeRun, before_run) X(beforerun, before_run) X(before_runs, before_run)     \
  X(on_before_run, before_run) X(before_step, before_run) X(beforeStep, before_run) X(begin_run, before_run)         \
  X(before_session_run, before_run) X(beforeSessionRun, before_run) X(on_step_begin, before_run)                 \
  X(on_batch_begin, before_run) X(pre_run, before_run) X(pre_step, before_run)                                   \
  X(afterRun, after_run) X(AfterRun, after_run) X(afterrun, after_run) X(after_runs, after_run)            \
  X(on_after_run, after_run) X(after_step, after_run) X(afterStep, after_run) X(end_run, after_run)                  \
  X(after_session_run, after_run) X(afterSessionRun, after_run) X(on_step_end, after_run)                        \
  X(on_batch_end, after_run) X(post_run, after_run) X(post_step, after_run) X(on_run, after_run)                 \
  X(on_step, after_run)                                                                                          \
  X(on_end, end) X(onEnd, end) X(on_train_end, end)                                                              \
  X(onError, on_error) X(handle_error, on_error) X(on_close, close) X(onClose, close)

/// A base with a member of every such name. Deriving from it and from a hook makes exactly those names ambiguous that
/// the hook has, whatever their signatures, overloads or access.
struct decoy {
#define TAUTLINE_MEMBER(name, ...) int name;
  TAUTLINE_CALLBACK_NAMES(TAUTLINE_MEMBER)
  TAUTLINE_WRONG_NAMES(TAUTLINE_MEMBER)
  TAUTLINE_MEMBER(trigger)
#undef TAUTLINE_MEMBER
};
template <class Hook>
struct name_probe : Hook, decoy {};
/// The name of the hook's class, or of a base, is a member as well; seen from here it is a type like others.
template <class Hook>
struct type_probe : Hook {};

/// Which of these names a hook has a member of that is no type.
template <class Hook>
struct named_callbacks {
#define TAUTLINE_HAS(name)       \
  static constexpr bool name =   \
      !requires { &name_probe<Hook>::name; } && !requires { typename type_probe<Hook>::name; };
  TAUTLINE_CALLBACK_NAMES(TAUTLINE_HAS)
  TAUTLINE_HAS(trigger)
#undef TAUTLINE_HAS
  static constexpr bool any = begin || after_create_session || before_run || gate || after_run || end || on_error ||
                              close || on_enter || on_leave;
};

template <class Pointer>
inline constexpr bool is_address_of_data = std::is_object_v<std::remove_pointer_t<Pointer>>;
template <class Class, class Type>
inline constexpr bool is_address_of_data<Type Class::*> = std::is_object_v<Type>;

/// None of the wrong names is a member: what nearly every hook answers. One question for all of them, since a question for
/// each is what would cost most in compiling a session.
template <class Hook>
concept names_nothing_wrong = requires {
#define TAUTLINE_UNAMBIGUOUS(name, meant) &name_probe<Hook>::name;
  TAUTLINE_WRONG_NAMES(TAUTLINE_UNAMBIGUOUS)
#undef TAUTLINE_UNAMBIGUOUS
};

/// No member function of the hook has one of the wrong names. Public data may: nobody writes a callback as data.
template <class Hook>
consteval auto names_are_right() {
#define TAUTLINE_CHECK(name, meant)                                                    \
  if constexpr (!requires { &name_probe<Hook>::name; } &&                              \
                !requires { typename type_probe<Hook>::name; } &&                      \
                !requires { requires is_address_of_data<decltype(&Hook::name)>; }) {   \
    return wrong_name<Hook, #name, #meant>{};                                          \
  } else
  if constexpr (names_nothing_wrong<Hook>) {
    return fine{};
  } else TAUTLINE_WRONG_NAMES(TAUTLINE_CHECK) {
    return fine{};
  }
#undef TAUTLINE_CHECK
}

#undef TAUTLINE_CALLBACK_NAMES
#undef TAUTLINE_WRONG_NAMES

}  // namespace detail
TAUTLINE_END
