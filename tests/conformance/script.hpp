// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/core.hpp>

/// What a scenario says, as data, and the world in which it is played: the trace, and the counters of the scripted
/// session, which outlive the sessions that are made and made anew.
namespace conformance {

using tautline::callback;
using tautline::error_kind;
using tautline::step_number;

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double inf = std::numeric_limits<double>::infinity();

/// An error that the scenario orders.
struct failure {
  error_kind kind = error_kind::none;
  bool derived = false;  ///< a type derived from the kind's own; without exceptions there are none
};

struct action {
  callback at;
  bool at_any_step;
  step_number step;
  bool stops;  ///< asks for a stop; otherwise fails
  failure raises;
};

/// A name with its numbers: values of successive runs, or what is fed.
struct series {
  std::string name;
  std::vector<double> numbers;

  /// The number at `place`; the last one repeats.
  [[nodiscard]] double at(long place) const {
    auto const last = static_cast<long>(numbers.size()) - 1;
    return numbers[static_cast<std::size_t>(place < last ? place : last)];
  }
};

struct value_script {
  series values;
  std::string of_feed = {};  ///< the value is what was fed under this name, if it is not empty
  double otherwise = 0;
};

/// The K-th of something fails.
struct ordered_failure {
  long ordinal;
  failure raises;
};

struct hook_script {
  std::string id;
  std::vector<action> actions = {};
  step_number fetch_every = 1;
  std::vector<series> feeds = {};

  [[nodiscard]] series const& feed_of(std::string_view name) const {
    for (series const& fed : feeds) {
      if (fed.name == name) return fed;
    }
    std::abort();  // the generator gives one for each name in the hook's type
  }
};

enum class act : std::uint8_t { run, run_without_hooks, run_with, request_stop, should_stop, close, raise };

struct plan_item {
  act does;
  std::string words;  ///< as they stand in the trace
  int chosen = 0;     ///< which of the group's lists of ids, for `run_with`
  failure raises = {};
};

enum class drive_kind : std::uint8_t { loop, loop_no_check, runs, plan };

struct scenario {
  step_number initial_step = 0;
  std::vector<value_script> values = {};
  std::vector<series> variables = {};
  std::vector<ordered_failure> run_failures = {};
  std::vector<ordered_failure> make_failures = {};
  long input_length = -1;  ///< endless
  step_number steps_per_run = 1;
  bool keeps_state = false;
  int max_recoveries = 5;
  std::vector<hook_script> hooks = {};
  std::vector<series> caller_feeds = {};
  drive_kind drive = drive_kind::loop;
  long runs = 0;
  std::vector<plan_item> plan = {};
  bool catches = false;
  std::vector<plan_item> after = {};
  long max_runs = 30;
  bool leaves_the_loop = false;  ///< expected to end by `max_runs`: what drives without a check in between must know
};

#if TAUTLINE_EXCEPTIONS

/// Marks what the script threw, so that a library that replaces an exception by another one of its kind is found out.
struct ordered {
  ordered() = default;
  ordered(ordered const&) = default;
  ordered& operator=(ordered const&) = default;
  virtual ~ordered() = default;
};
template <class Exception>
struct ordered_exception : Exception, ordered {
  explicit ordered_exception(char const* what) : Exception(what) {}
};
struct derived_end_of_input : tautline::end_of_input_error {
  using tautline::end_of_input_error::end_of_input_error;
};

#endif

inline constexpr char const* ordered_text = "ordered by the scenario";

#if TAUTLINE_EXCEPTIONS
[[noreturn]] void throw_ordered(failure what);
#endif

/// All that is remembered while one scenario is played in one way.
class world {
 public:
  explicit world(scenario const& played) : script(played), done(played.hooks.size()) {
    for (std::size_t i = 0; i < done.size(); ++i) done[i].resize(played.hooks[i].actions.size());
    completed = checkpoint = played.initial_step;
    has_checkpoint = checkpoint > 0;
  }
  world(world const&) = delete;
  world& operator=(world const&) = delete;

  [[gnu::format(printf, 2, 3)]] void trace(char const* format, ...);
  /// Something is wrong that no line of the trace would show.
  [[gnu::format(printf, 2, 3)]] void complain(char const* format, ...);

  // as the sink of a saver: what the next session begins from
  tautline::status save(tautline::training_state const& state) {
    checkpoint = state.step();
    has_checkpoint = true;
    saved_values.clear();
    state.each([this](tautline::state_item const& item) {
      if (item.group != tautline::state_group::variable || item.view.type != tautline::element_type::F64) return;
      saved_values.emplace_back(item.owner, *static_cast<double const*>(item.view.data));
    });
    return {};
  }
  /// The value of a variable in the checkpoint; 0 in that of the initial step.
  [[nodiscard]] double saved_value(std::string_view name) const {
    for (auto const& [saved, value] : saved_values) {
      if (saved == name) return value;
    }
    return 0;
  }
  [[nodiscard]] bool is_empty() const { return !has_checkpoint; }

  scenario const& script;
  std::vector<std::string> lines;
  std::vector<std::string> complaints;

  // the scripted session
  long raw_runs = 0;   ///< begun, over all sessions, failed ones too
  long good_runs = 0;  ///< that succeeded
  long attempts = 0;
  long sessions = 0;
  long taken = 0;  ///< elements of this session's input
  step_number completed = 0;
  step_number checkpoint = 0;
  bool has_checkpoint = false;
  std::vector<std::pair<std::string, double>> saved_values;
  step_number steps_of_others = 0;  ///< of a global step
  std::uint64_t ticks = 0;  ///< ten a raw run
  std::vector<std::vector<bool>> done;  ///< actions, by hook

  /// Where a backend reports an error as a status, the library makes the exception; its message has the status's words,
  /// the beginning of a long one.
  [[nodiscard]] bool is_status_of_backend(error_kind kind, std::string const& words) const {
    return kind == backend_kind && !backend_message.empty() && words.find(backend_message.substr(0, 100)) != std::string::npos;
  }
  error_kind backend_kind = error_kind::none;  ///< of the last status that reported an error
  std::string backend_message;
  void (*finish)(world&) = nullptr;  ///< of the backend: what it has to say when the play is over

  // what the caller saw
  std::string outcome = "ok";
  std::string message;
  bool outcome_is_of_session = true;  ///< false for a refused run and for the caller's own error
  std::string stop_by;
  bool stop_has_step = false;
  step_number stop_step = 0;
  std::vector<std::string> errors;  ///< kinds of the session's errors, the first one included
  int errors_in_all = 0;
};

/// The first failure ordered for this ordinal.
inline failure failure_at(std::vector<ordered_failure> const& list, long ordinal) {
  for (ordered_failure const& one : list) {
    if (one.ordinal == ordinal) return one.raises;
  }
  return {};
}

/// One way to drive a loop.
enum class way : std::uint8_t { run, run_to_completion, steps, run_for };
inline constexpr char const* way_names[] = {"run", "run_to_completion", "steps", "run_for"};

/// A scenario with the types that it needs.
struct test_case {
  int number;  ///< in the order of the generator
  scenario script;
  void (*play)(world&, way);
};

}  // namespace conformance
