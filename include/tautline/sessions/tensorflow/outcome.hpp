// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include <tautline/core/error.hpp>

TAUTLINE_BEGIN
namespace tensorflow {

/// Success, or one error whose words are made at run time. @see tautline::status, whose words live elsewhere
struct [[nodiscard]] outcome {
  error_kind kind = error_kind::none;
  std::string message{};

  [[nodiscard]] bool ok() const { return kind == error_kind::none; }
  /// A view: good as long as this object.
  [[nodiscard]] tautline::status status() const { return {kind, message.c_str()}; }
};

}  // namespace tensorflow
TAUTLINE_END
