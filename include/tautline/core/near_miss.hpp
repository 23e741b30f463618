// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/hook.hpp>

TAUTLINE_BEGIN
namespace detail {

// Every name that a callback has, and the wrong names that people write for them, taken from other systems.
#define TAUTLINE_CALLBACK_NAMES(X) \
  X(begin) X(after_create_session) X(before_run) X(after_run) X(end) X(on_error) X(close)
#define TAUTLINE_WRONG_NAMES(X)                                                                                     \
  X(beforeRun) X(afterRun) X(before_step) X(after_step) X(on_begin) X(on_end) X(onBegin) X(onEnd) X(begin_run)      \
  X(end_run) X(on_run) X(before_session_run) X(after_session_run) X(beforeSessionRun) X(afterSessionRun)            \
  X(after_session_creation) X(afterSessionCreation) X(after_create) X(afterCreateSession) X(after_session_created)  \
  X(on_step) X(on_step_begin) X(on_step_end) X(on_train_begin) X(on_train_end) X(on_batch_begin) X(on_batch_end)    \
  X(on_close) X(onClose) X(onError) X(handle_error) X(pre_run) X(post_run) X(pre_step) X(post_step)

/// A base with a member of every such name. Deriving from it and from a hook makes exactly those names ambiguous that
/// the hook has, whatever their signatures, overloads or access.
struct decoy {
#define TAUTLINE_MEMBER(name) int name;
  TAUTLINE_CALLBACK_NAMES(TAUTLINE_MEMBER)
  TAUTLINE_WRONG_NAMES(TAUTLINE_MEMBER)
#undef TAUTLINE_MEMBER
};
template <class Hook>
struct name_probe : Hook, decoy {};

/// Which of the callback names a hook has a member of.
template <class Hook>
struct named_callbacks {
#define TAUTLINE_HAS(name) static constexpr bool name = !requires { &name_probe<Hook>::name; };
  TAUTLINE_CALLBACK_NAMES(TAUTLINE_HAS)
#undef TAUTLINE_HAS
};

template <class Hook, fixed_string Written>
consteval bool refuse_name() {
  static_assert(Written.size() == 0,
                "tautline: this hook has a member with the name in Written, which is no callback, so it would never be "
                "called. Mend: the callbacks are begin, after_create_session, before_run, after_run, end, on_error and "
                "close; rename it to the one that is meant");
  return false;
}

/// No member of the hook has one of the wrong names.
template <class Hook>
consteval bool names_are_right() {
#define TAUTLINE_CHECK(name)                               \
  if constexpr (!requires { &name_probe<Hook>::name; }) {  \
    return refuse_name<Hook, #name>();                     \
  } else
  TAUTLINE_WRONG_NAMES(TAUTLINE_CHECK) { return true; }
#undef TAUTLINE_CHECK
}

#undef TAUTLINE_CALLBACK_NAMES
#undef TAUTLINE_WRONG_NAMES

}  // namespace detail
TAUTLINE_END
