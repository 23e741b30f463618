// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>

#include <tautline/core/text.hpp>
#include <tautline/core/type_name.hpp>

TAUTLINE_BEGIN

/// What went wrong, by its consequence. The names are those of the field's status codes.
enum class error_kind : std::uint8_t {
  none,              ///< no error
  out_of_range,      ///< end of input, if it comes from the session's run; an error otherwise
  aborted,           ///< the session is broken and may be made anew: recovered if it comes from the session
  unavailable,       ///< likewise
  internal,          ///< the backend is at fault
  invalid_argument,  ///< the caller or a hook is at fault
  cancelled,         ///< somebody ended the run from outside; never recovered
  error,             ///< any other error, among them every foreign exception
  nan,               ///< a value that must be finite is not
  feed_conflict,     ///< two parties fed one name in one run
  run_after_stop,    ///< a run after a stop, after the end of input or after close; it costs the hooks nothing
  busy,              ///< the session's loop is in use by a live `steps()`
  frame_too_small,   ///< the loop's coroutine frame does not fit the session's buffer
};

[[nodiscard]] constexpr char const* to_string(error_kind kind) {
  constexpr char const* names[] = {"none",     "out_of_range",     "aborted",        "unavailable", "internal",
                                   "invalid_argument", "cancelled", "error",         "nan",         "feed_conflict",
                                   "run_after_stop",   "busy",      "frame_too_small"};
  return names[static_cast<std::size_t>(kind)];
}

/// The moments in the life of a session, as they appear in errors and traces.
enum class callback : std::uint8_t { none, begin, create_session, after_create_session, before_run, run, gate,
                                     after_run, save, on_error, end, close };

[[nodiscard]] constexpr char const* to_string(callback where) {
  constexpr char const* names[] = {"none",      "begin", "create_session", "after_create_session",
                                   "before_run", "run",   "gate",           "after_run",
                                   "save",       "on_error", "end",         "close"};
  return names[static_cast<std::size_t>(where)];
}

/// What a backend's `open()` and `run()` return: success, end of input, or an error as a value.
///
///     return tautline::status{error_kind::unavailable, "the parameter server is gone"};
///
/// @param message of static life, or a member of the backend that stays until its next failure.
struct status {
  error_kind kind = error_kind::none;
  char const* message = "";

  [[nodiscard]] constexpr bool ok() const { return kind == error_kind::none; }
  static constexpr status end_of_input() { return {error_kind::out_of_range, "end of input"}; }
};

/// One error, as hooks and callers see it.
struct error {
  error_kind kind = error_kind::none;
  callback where = callback::none;  ///< the moment in which it came up
  bool has_step = false;            ///< false before a session exists
  step_number step = 0;             ///< the run in progress; outside a run the completed steps
  char const* hook = "";            ///< the hook at fault; empty if it was the session or the caller
  tautline::text message;
#if TAUTLINE_EXCEPTIONS
  std::exception_ptr cause;  ///< the exception, where it was one
#endif

  [[nodiscard]] explicit operator bool() const { return kind != error_kind::none; }

  /// "loss is nan (nan, hook nan_checker<"loss">, after_run, step 3)", cut to `size - 1` characters.
  void write_to(char* out, std::size_t size) const {
    // a long message must not push out what follows it
    std::size_t const most = size > 320 ? size - 160 : size < 160 ? size : 160;
    std::size_t const used = message.write_to(out, most);
    detail::writer written(out + used, size - used);
    written.put(used != 0 ? " (" : "(");
    written.put(to_string(kind));
    if (*hook != 0) written.put(", hook "), written.put(hook);
    if (where != callback::none) written.put(", "), written.put(to_string(where));
    if (has_step) written.put(", step "), written.put(static_cast<double>(step));
    written.put(')');
  }
};

#if TAUTLINE_EXCEPTIONS

/// Base of the exceptions that the library throws, and of those from which it learns a kind. A backend or a hook may
/// throw any of the derived types, or a type of its own derived from one of them: the caller gets that very object.
class exception : public std::exception {
 public:
  explicit exception(error_kind kind, char const* what = "") : kind_(kind) {
    detail::writer(what_, sizeof what_).put(what);
  }
  explicit exception(error const& happened) : kind_(happened.kind) { happened.write_to(what_, sizeof what_); }

  [[nodiscard]] char const* what() const noexcept override { return what_; }
  [[nodiscard]] error_kind kind() const noexcept { return kind_; }

 private:
  error_kind kind_;
  char what_[1000];  // a checkpoint of another graph has a lot to say
};

/// The exception of one kind: `throw aborted_error("the worker is gone");`
template <error_kind Kind>
class exception_of : public exception {
 public:
  explicit exception_of(char const* what = "") : exception(Kind, what) {}
  explicit exception_of(error const& happened) : exception(happened) {}
};

using end_of_input_error = exception_of<error_kind::out_of_range>;
using aborted_error = exception_of<error_kind::aborted>;
using unavailable_error = exception_of<error_kind::unavailable>;
using internal_error = exception_of<error_kind::internal>;
using invalid_argument_error = exception_of<error_kind::invalid_argument>;
using cancelled_error = exception_of<error_kind::cancelled>;
using nan_error = exception_of<error_kind::nan>;
using feed_conflict_error = exception_of<error_kind::feed_conflict>;
using run_after_stop_error = exception_of<error_kind::run_after_stop>;
using busy_error = exception_of<error_kind::busy>;
using frame_too_small_error = exception_of<error_kind::frame_too_small>;

namespace detail {

/// Throws the exception behind `happened`: the very object if there is one, else one made for the kind.
[[noreturn]] TAUTLINE_COLD inline void raise(error const& happened) {
  if (happened.cause) std::rethrow_exception(happened.cause);
  switch (happened.kind) {
    case error_kind::out_of_range: throw end_of_input_error(happened);
    case error_kind::aborted: throw aborted_error(happened);
    case error_kind::unavailable: throw unavailable_error(happened);
    case error_kind::internal: throw internal_error(happened);
    case error_kind::invalid_argument: throw invalid_argument_error(happened);
    case error_kind::cancelled: throw cancelled_error(happened);
    case error_kind::nan: throw nan_error(happened);
    case error_kind::feed_conflict: throw feed_conflict_error(happened);
    case error_kind::run_after_stop: throw run_after_stop_error(happened);
    case error_kind::busy: throw busy_error(happened);
    case error_kind::frame_too_small: throw frame_too_small_error(happened);
    default: throw exception_of<error_kind::error>(happened);
  }
}

}  // namespace detail
#endif

TAUTLINE_END
