// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>

#include <tautline/core.hpp>

// What errors say, with exceptions and without.

namespace said {

inline std::string words(tautline::error const& happened) {
  char out[1000];
  if (!happened) return {};
  happened.write_to(out, sizeof out);
  return out;
}
inline bool starts_with(std::string_view words, std::string_view begin) {
  if (!words.starts_with(begin)) MESSAGE(words);
  return words.starts_with(begin);
}

/// What a call of a session fails with; "" if it does not.
template <class Call, class Session>
std::string message_of(Call call, [[maybe_unused]] Session& session) {
#if TAUTLINE_EXCEPTIONS
  try {
    (void)call();
    return {};
  } catch (std::exception const& happened) {
    return happened.what();
  }
#else
  (void)call();
  return words(session.status());
#endif
}

/// What making a session fails with: an error's words may be good no longer than its session.
struct failure {
  tautline::error_kind kind;
  tautline::callback where;
  std::string words;
};
/// @param make returns a session, by the form that does not throw
template <class Make>
failure failure_of_making(Make make) {
  auto session = make();
  tautline::error const happened = session.status();
  return {happened.kind, happened.where, words(happened)};
}

}  // namespace said
