// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN
namespace testing {

/// What must hold of every hook. @see check_laws
enum class law : std::uint8_t {
  reset,           ///< a hook that is used a second time begins as a new one does
  stable_fields,   ///< the state has the same names, types and shapes whenever it is looked at
  round_trip,      ///< what was saved, and is put back, is there to the bit
  resume,          ///< a training that was killed and resumed comes to the state of one that was not
  resume_output,   ///< and has written the same, both parts together
  error_of_hook,   ///< after a failure in any callback of a neighbour all ends in good order
  error_of_session,  ///< the same after a failure of a run, or of the making of a session
  no_leak,         ///< on every way out all memory is given back
  bad_values,      ///< NaN, infinite and huge values neither end the program nor spoil the state
  no_allocation,   ///< the heap is not used in a step; required of hooks that declare `real_time`
  recovery,        ///< after aborted runs it goes on from the checkpoint to the same state
  recovery_kept,   ///< where a backend keeps its state over an aborted run, the training comes to its end
  empty_input,     ///< an input without elements is no error
  several_steps,   ///< runs that make three steps each, and a resumed training of them
};
[[nodiscard]] constexpr char const* to_string(law which) {
  constexpr char const* names[] = {"reset",         "stable_fields",    "round_trip", "resume",     "resume_output",
                                   "error_of_hook", "error_of_session", "no_leak",    "bad_values", "no_allocation",
                                   "recovery",      "recovery_kept",    "empty_input", "several_steps"};
  return names[static_cast<std::size_t>(which)];
}
inline constexpr int law_count = static_cast<int>(law::several_steps) + 1;

/// How a law fared.
enum class verdict : std::uint8_t {
  holds,
  fails,
  excepted,       ///< it was to be left out, for a reason, and does fail
  stale,          ///< it was to be left out, but holds: the exception is out of date
  not_looked_at,  ///< it has no meaning here, or the program cannot see it
};
[[nodiscard]] constexpr char const* to_string(verdict which) {
  constexpr char const* names[] = {"holds", "FAILS", "excepted", "stale exception", "not looked at"};
  return names[static_cast<std::size_t>(which)];
}

struct finding {
  law which;
  verdict how;
  std::string text;  ///< what was seen, or the reason of an exception
};

/// What `check_laws` found. It depends on no test framework: `CHECK_MESSAGE(report.good(), report.text())`, or print the
/// text and return `report.good() ? 0 : 1`.
struct law_report {
  std::string hook;
  std::vector<finding> findings;  ///< one for each law

  /// No law fails, and no exception is stale.
  [[nodiscard]] bool good() const { return count(verdict::fails) + count(verdict::stale) == 0; }
  [[nodiscard]] int count(verdict wanted) const {
    int found = 0;
    for (finding const& one : findings) found += one.how == wanted ? 1 : 0;
    return found;
  }
  [[nodiscard]] finding const& operator[](law which) const { return findings[static_cast<std::size_t>(which)]; }
  /// The names of the laws that fail, with commas: "reset,resume".
  [[nodiscard]] std::string failing() const {
    std::string names;
    for (finding const& one : findings) {
      if (one.how == verdict::fails) names += (names.empty() ? "" : ",") + std::string(to_string(one.which));
    }
    return names;
  }
  /// A line for each law, with what was seen below it.
  [[nodiscard]] std::string text(bool all = true) const {
    std::string words = "laws of " + hook + "\n";
    for (finding const& one : findings) {
      if (!all && one.how != verdict::fails && one.how != verdict::stale) continue;
      std::string const name = to_string(one.which);
      words += "  " + name + std::string(name.size() < 18 ? 18 - name.size() : 1, ' ') + to_string(one.how) + "\n";
      words += indented(one.text);
    }
    return words;
  }

 private:
  static std::string indented(std::string_view text) {
    std::string words;
    while (!text.empty()) {
      std::size_t const end = text.find('\n');
      words += "      " + std::string(text.substr(0, end)) + "\n";
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    return words;
  }
};

}  // namespace testing
TAUTLINE_END
