// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <string>
#include <system_error>
#include <utility>

#include <tautline/core/error.hpp>

TAUTLINE_BEGIN
namespace detail {

/// What the last attempt of a sink met. Where exceptions are on it is thrown besides.
class io_failure {
 public:
  [[nodiscard]] tautline::status status() const { return {kind_, kind_ == error_kind::none ? "" : message_.c_str()}; }
  [[nodiscard]] bool failed() const { return kind_ != error_kind::none; }
  /// What the system said; no error if all was well, and for a refusal.
  [[nodiscard]] std::error_code error() const { return error_; }

  /// @return whether there is no problem; throws it as a std::system_error where exceptions are on
  bool check(std::error_code problem, char const* what, std::string const& path) {
    error_ = problem;
    if (!problem) [[likely]] {
      kind_ = error_kind::none;
      return true;
    }
    raise_system(problem, what, path);
    return false;
  }
  /// A refusal once more, for who asks again.
  /// @return whether there was one
  TAUTLINE_COLD bool repeat() {
    if (kind_ != error_kind::invalid_argument) return false;
    refuse(std::string(message_));
    return true;
  }
  /// The file, or what is asked of it, is wrong. Throws an `invalid_argument_error` where exceptions are on.
  TAUTLINE_COLD void refuse(std::string message) {
    kind_ = error_kind::invalid_argument;
    error_.clear();
    message_ = std::move(message);
#if TAUTLINE_EXCEPTIONS
    throw invalid_argument_error(message_.c_str());
#endif
  }

 private:
  TAUTLINE_COLD void raise_system(std::error_code problem, char const* what, std::string const& path) {
    kind_ = error_kind::error;
    message_ = what + path + ": " + problem.message();
#if TAUTLINE_EXCEPTIONS
    throw std::system_error(problem, what + path);
#endif
  }

  error_kind kind_ = error_kind::none;
  std::error_code error_;
  std::string message_;
};

/// A path for a message whose space is limited: its end if it is long.
inline std::string shown_path(std::string const& path) {
  return path.size() <= 120 ? path : "..." + path.substr(path.size() - 117);
}

}  // namespace detail
TAUTLINE_END
