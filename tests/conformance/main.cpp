// SPDX-License-Identifier: BSL-1.0
// Plays the scenarios that were built into this program and prints what happened, for run.py to compare.
//
//   conformance [FIRST]     from the test case of that number on

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <stdexcept>

#include "chunks.hpp"

namespace conformance {

namespace {
std::string formatted(char const* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  std::string words(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, format, arguments)), '\0');
  std::vsnprintf(words.data(), words.size() + 1, format, again);
  va_end(again);
  return words;
}
}  // namespace

void world::trace(char const* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  lines.push_back(formatted(format, arguments));
  va_end(arguments);
}

void world::complain(char const* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  complaints.push_back(formatted(format, arguments));
  va_end(arguments);
}

#if TAUTLINE_EXCEPTIONS
void throw_ordered(failure what) {
  switch (what.kind) {
    case error_kind::out_of_range:
      if (what.derived) throw ordered_exception<derived_end_of_input>(ordered_text);
      throw ordered_exception<tautline::end_of_input_error>(ordered_text);
    case error_kind::aborted: throw ordered_exception<tautline::aborted_error>(ordered_text);
    case error_kind::unavailable: throw ordered_exception<tautline::unavailable_error>(ordered_text);
    case error_kind::internal: throw ordered_exception<tautline::internal_error>(ordered_text);
    case error_kind::invalid_argument: throw ordered_exception<tautline::invalid_argument_error>(ordered_text);
    case error_kind::cancelled: throw ordered_exception<tautline::cancelled_error>(ordered_text);
    default: throw ordered_exception<std::runtime_error>(ordered_text);
  }
}
#endif

namespace {

/// A backend's own words may have several.
std::string on_one_line(std::string words) {
  std::replace(words.begin(), words.end(), '\n', ' ');
  return words;
}

/// One line for each thing, its kind first. Nothing of it can be taken for another, as each line has a kind.
void print(world const& played) {
  for (std::string const& line : played.lines) std::printf("trace %s\n", line.c_str());
  std::printf("outcome %s\n", played.outcome.c_str());
  if (played.stop_by.empty()) {
    std::printf("stop - -\n");
  } else if (played.stop_has_step) {
    std::printf("stop %s %lld\n", played.stop_by.c_str(), static_cast<long long>(played.stop_step));
  } else {
    std::printf("stop %s -\n", played.stop_by.c_str());
  }
  // what is attached to the error that the caller saw: it is the session's first, or none of them
  std::size_t const first = played.outcome_is_of_session ? 1 : 0;
  for (std::size_t i = first; i < played.errors.size(); ++i) std::printf("attached %s\n", played.errors[i].c_str());
  std::printf("attached_in_all %d\n", std::max(0, played.errors_in_all - static_cast<int>(first)));
  std::printf("message %s\n", on_one_line(played.message).c_str());
  for (std::string const& line : played.complaints) std::printf("complaint %s\n", on_one_line(line).c_str());
}

void play(test_case const& one) {
  bool const loops = one.script.drive == drive_kind::loop;
  for (way how : {way::run, way::run_to_completion, way::steps, way::run_for}) {
    if (how != way::run && !loops) continue;
    std::printf("play %d %s\n", one.number, way_names[static_cast<int>(how)]);
    std::fflush(stdout);  // so that it is known who crashed
    world played(one.script);
    one.play(played, how);
    if (played.finish != nullptr) played.finish(played);
    print(played);
    std::printf("done\n");
  }
}

}  // namespace
}  // namespace conformance

int main(int count, char** arguments) {
  int const first = count > 1 ? std::atoi(arguments[1]) : 0;
  std::vector<conformance::test_case> cases;
  for (auto* add : conformance::chunks) add(cases);
  std::sort(cases.begin(), cases.end(), [](auto const& a, auto const& b) { return a.number < b.number; });
  for (conformance::test_case const& one : cases) {
    if (one.number >= first) conformance::play(one);
  }
}
