// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tautline/core/error.hpp>
#include <tautline/testing/fake_clock.hpp>
#include <tautline/testing/trace.hpp>

TAUTLINE_BEGIN
namespace testing {

/// What was fed by a name, in the runs in which something was.
struct of_feed {
  std::string feed;
  double by_default = 0;
};
/// A value of a scripted session: a list, one for each raw run (the last repeats), a function of the raw run, or what
/// was fed: `{0.9, 0.5, 0.3}`, `[](long run) { return 1.0 / double(run); }`, `of_feed{"rate", 0.1}`.
class scripted_value {
 public:
  scripted_value() = default;  ///< 0
  scripted_value(std::initializer_list<double> list) : list_(list) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  scripted_value(std::vector<double> list) : list_(std::move(list)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  scripted_value(of_feed fed) : fed_(std::move(fed)) {}
  template <class Function>
    requires(std::is_invocable_r_v<double, Function&, long> && !std::is_same_v<std::remove_cvref_t<Function>, scripted_value>)
  // NOLINTNEXTLINE(google-explicit-constructor)
  scripted_value(Function function) : function_(std::move(function)) {}

  /// @param run counts from 1  @param fed gives what was fed by a name, or null
  template <class Fed>
  [[nodiscard]] double of(long run, Fed const& fed) const {
    if (function_) return function_(run);
    if (!fed_.feed.empty()) {
      double const* const found = fed(std::string_view(fed_.feed));
      return found != nullptr ? *found : fed_.by_default;
    }
    if (list_.empty()) return 0;
    auto const at = static_cast<std::size_t>(run > 0 ? run - 1 : 0);
    return list_[at < list_.size() ? at : list_.size() - 1];
  }

 private:
  std::vector<double> list_;
  of_feed fed_;
  std::function<double(long)> function_;
};

/// How a fault shows itself.
enum class fault_as : std::uint8_t {
  value,      ///< a status
  exception,  ///< an exception of the kind; `error_kind::error` is a plain std::runtime_error
  derived,    ///< an exception of a type derived from that of the kind
};
/// A fault of a session: `{.at = 3, .kind = error_kind::aborted}` fails raw run 3, or the third making of a session.
struct fault {
  long at = 1;
  error_kind kind = error_kind::internal;
  fault_as how = fault_as::value;
};

#if TAUTLINE_EXCEPTIONS
/// An exception derived from that of its kind, as backends of others have them.
template <error_kind Kind>
struct derived_error : exception_of<Kind> {
  derived_error() : exception_of<Kind>("a scripted fault, of a derived type") {}
};
#endif

namespace detail {

inline status strike(fault const& planned) {
#if TAUTLINE_EXCEPTIONS
  if (planned.how != fault_as::value) {
    bool const derived = planned.how == fault_as::derived;
    switch (planned.kind) {
#define TAUTLINE_THROW(kind)                          \
  case error_kind::kind:                              \
    if (derived) throw derived_error<error_kind::kind>(); \
    throw exception_of<error_kind::kind>("a scripted fault");
      TAUTLINE_THROW(out_of_range)
      TAUTLINE_THROW(aborted)
      TAUTLINE_THROW(unavailable)
      TAUTLINE_THROW(internal)
      TAUTLINE_THROW(invalid_argument)
      TAUTLINE_THROW(cancelled)
#undef TAUTLINE_THROW
      default: throw std::runtime_error("a scripted fault");
    }
  }
#endif
  return {planned.kind, "a scripted fault"};
}

}  // namespace detail

/// What happens to a session in a test: the script of a `scripted_session`, or of a graph with a `scripted_source`, and
/// what was seen of it. It must outlive the session. All fields may be set at any time.
///
///     script plan;
///     plan.values["loss"] = {0.9, 0.5, 0.3};
///     plan.run_faults = {{.at = 3, .kind = error_kind::aborted}};
///     auto session = monitored(scripted_session(plan), my_hook{});
struct script {
  /// Every name that is fetched has a value; one that does not stand here is `other_values`.
  std::map<std::string, scripted_value, std::less<>> values;
  scripted_value other_values{0.5};
  /// Variables that each raw run sets to a value. @see learns
  std::map<std::string, scripted_value, std::less<>> variables;
  /// A variable "w" that each raw run changes by what was fed, by the value "loss" and by what it was before: a training
  /// in which nothing that happened is forgotten.
  bool learns = false;

  std::vector<fault> run_faults;     ///< by raw run, counted from 1 over all sessions, failed ones too
  std::vector<fault> create_faults;  ///< by attempt to make a session, counted from 1
  long input_length = -1;            ///< elements of the input; a run takes one; -1: it has no end
  step_number steps_per_run = 1;
  step_number initial_step = 0;  ///< of the first session
  /// A session that is made anew goes on where the last one was; else it begins at `initial_step`, with a new input.
  bool keeps_on_recreate = false;
  /// Values follow the elements that were taken from the input, which a checkpoint holds, instead of the raw runs: a
  /// resumed training sees what an uninterrupted one sees.
  bool by_position = false;

  fake_clock clock;
  std::uint64_t ticks_per_run = 64;  ///< of the clock
  testing::trace* seen = nullptr;    ///< where the session writes its lines, if it does

  long runs = 0;      ///< raw runs so far, failed ones too; a look by `evaluate` or a hook's own run counts as well
  long attempts = 0;  ///< to make a session
  long sessions = 0;  ///< that were made
  long position = 0;  ///< elements taken from the input

  /// To the beginning, with the same plan; the clock goes on.
  void rewind() { runs = attempts = sessions = position = 0; }

  // --- for sessions ---

  /// A raw run begins: time passes. A fault of this run is thrown, or returned; `out_of_range` at the end of the input.
  status begin_run(bool takes_input = true) {
    ++runs;
    clock.advance(ticks_per_run);
    for (fault const& planned : run_faults) {
      if (planned.at == runs) return detail::strike(planned);
    }
    if (takes_input && input_length >= 0 && position >= input_length) return status::end_of_input();
    if (takes_input) ++position;
    return {};
  }
  status begin_session() {
    ++attempts;
    for (fault const& planned : create_faults) {
      if (planned.at == attempts) return detail::strike(planned);
    }
    ++sessions;
    return {};
  }
  [[nodiscard]] long now() const { return by_position ? position : runs; }
  template <class Fed>
  [[nodiscard]] double value(std::string_view name, Fed const& fed) const {
    auto const found = values.find(name);
    return (found != values.end() ? found->second : other_values).of(now(), fed);
  }
  [[nodiscard]] double value(std::string_view name) const {
    return value(name, [](std::string_view) -> double const* { return nullptr; });
  }
};

/// A source of a `static_graph` that follows a script: `.source<"x">(0.0, scripted_source<"x">{&plan})`. It takes the
/// input's elements, and throws the faults of raw runs; its place in the input is in a checkpoint.
template <fixed_string Name>
struct scripted_source {
  script* plan;
  bool operator()(double& out) const {
    status const done = plan->begin_run();
#if TAUTLINE_EXCEPTIONS
    if (!done.ok() && done.kind != error_kind::out_of_range) {
      for (fault planned : plan->run_faults) {
        planned.how = planned.how == fault_as::value ? fault_as::exception : planned.how;
        if (planned.at == plan->runs) (void)detail::strike(planned);
      }
    }
#endif
    if (!done.ok()) return false;
    out = plan->value(Name.characters);
    return true;
  }
  auto state() const { return fields{field<"position">(plan->position)}; }
};

}  // namespace testing
TAUTLINE_END
