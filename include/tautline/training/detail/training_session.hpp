// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/training/monitored_training_session.hpp>

#include <chrono>
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tautline/adapt/chrono.hpp>
#include <tautline/core/monitored.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/loss_logger.hpp>
#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/step_rate_logger.hpp>
#include <tautline/hooks/summary_saver.hpp>
#include <tautline/io/event_file.hpp>
#include <tautline/training/training_settings.hpp>

TAUTLINE_BEGIN
template <fixed_string StepTarget, class... Declared>
class tensorflow_graph;
namespace detail {

template <class>
inline constexpr bool is_tensorflow_graph = false;
template <fixed_string StepTarget, class... Declared>
inline constexpr bool is_tensorflow_graph<tensorflow_graph<StepTarget, Declared...>> = true;

// --- what a training writes to, if it writes ------------------------------------------------------------------------

/// The checkpoints of a training that may have none, and those of another process, for a worker to begin from.
class training_checkpoints {
 public:
  /// @param wanted false where the caller has a saver of its own
  training_checkpoints(training_settings const& settings, bool wanted) : wait_(settings.max_wait) {
    if (settings.directory.empty() || !wanted) return;
    std::string const folder = settings.directory + "/checkpoints";
    if (settings.role == role::chief) {
      own_ = std::make_unique<background_checkpoints>(folder, keep_latest{settings.keep_checkpoints},
                                                      checkpoint_options{.report = settings.log}, settings.writing);
    } else {
      folder_ = folder;
    }
  }

  [[nodiscard]] bool saves() const { return own_ != nullptr; }
  [[nodiscard]] background_checkpoints* own() const { return own_.get(); }

  // as a sink
  status save(training_state const& state) { return own_ ? own_->save(state) : status{}; }
  [[nodiscard]] bool is_empty() { return own_ == nullptr || own_->is_empty(); }
  status prepare(training_state const& state) { return own_ ? own_->prepare(state) : status{}; }
  void set_metric(char const* name, double value) {
    if (own_) own_->set_metric(name, value);
  }
  bool next_finished(finished_save& done) { return own_ && own_->next_finished(done); }
  status finish() { return own_ ? own_->finish() : status{}; }

  // as a restorer
  restored restore(training_state const& state) {
    if (own_) return own_->restore(state);
    if (folder_.empty()) return {};
    auto const deadline = std::chrono::steady_clock::now() + wait_;
    for (;;) {
      // a worker's hooks are not the chief's
      checkpoint_store chiefs(folder_, keep_latest{}, {.report = false, .allow_changed_hooks = true, .read_only = true});
      restored const made = chiefs.restore(state);
      if (made.found) return made;
      if (made.result.kind == error_kind::invalid_argument) {  // of another graph: waiting does not mend it
        message_ = made.result.message;
        return {{made.result.kind, message_.c_str()}};
      }
      if (std::chrono::steady_clock::now() >= deadline) {
        message_ = "the chief has saved nothing in " + folder_ + " within the time to wait";
        if (!made.result.ok()) message_ += std::string(": ") + made.result.message;
        return {{error_kind::invalid_argument, message_.c_str()}};
      }
      std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(std::chrono::milliseconds(500), wait_));
    }
  }

 private:
  std::unique_ptr<background_checkpoints> own_;
  std::string folder_;
  std::string message_;
  std::chrono::seconds wait_;
};

/// The event file of a training that may have none.
class training_events {
 public:
  explicit training_events(training_settings const& settings) {
    std::string const& folder = settings.summary_directory.empty() ? settings.directory : settings.summary_directory;
    if (settings.role == role::chief && !folder.empty()) file_ = std::make_unique<event_file>(folder);
  }
  void add_scalar(std::string_view tag, double value, step_number step) {
    if (file_) file_->add_scalar(tag, value, step);
  }
  void add_histogram(std::string_view tag, std::span<double const> numbers, step_number step) {
    if (file_) file_->add_histogram(tag, numbers, step);
  }
  void add_graph(training_state const& state) {
    if (file_) file_->add_graph(state);
  }
  void mark_restart(step_number completed) {
    if (file_) file_->mark_restart(completed);
  }
  void flush() {
    if (file_) file_->flush();
  }
  [[nodiscard]] event_file* file() const { return file_.get(); }

 private:
  std::unique_ptr<event_file> file_;
};

// --- the hooks that every training has ------------------------------------------------------------------------------

/// Stands for a default hook that is not wanted.
struct left_out {};

template <class Hook>
inline constexpr bool is_nan_check = is_meant<nan_checker_tag, typename argument_of<Hook>::hook>(
    typename tags_of<typename argument_of<Hook>::hook>::type{});

inline any_trigger every_or_never(step_number steps) {
  return steps > 0 ? any_trigger(every_steps{steps}) : any_trigger(never);
}
inline any_trigger when_to_save(training_settings const& settings, bool saves) {
  step_number const steps = settings.save_checkpoint_steps.value_or(0);
  double const seconds = settings.save_checkpoint_seconds.value_or(settings.save_checkpoint_steps ? 0 : 600);
  if (!saves) return never;
  if (steps > 0) return every_steps{steps} | at_end;
  if (seconds > 0) return every_seconds{seconds} | at_end;
  return never;
}

/// Says what is wrong with the settings, as soon as the hooks begin.
struct settings_check {
  static constexpr bool stateless = true;
  bool two_intervals;
  template <class Graph>
  void begin(Graph&, life& at) const {
    if (two_intervals) {
      at.fail(error_kind::invalid_argument,
              "checkpoints are to be saved by steps and by seconds. Mend: set one of the two intervals");
    }
  }
};

template <class Model>
struct hooks_of_model {
  static left_out check() { return {}; }
  static left_out logger(training_settings const&, bool) { return {}; }
  static left_out summaries(training_events&, training_settings const&) { return {}; }
};
template <fixed_string Loss, fixed_string... Metrics>
struct hooks_of_model<model<loss<Loss>, metrics<Metrics...>>> {
  using type = model<loss<Loss>, metrics<Metrics...>>;
  static auto check() { return nan_checker<Loss>{}; }
  static auto logger(training_settings const& settings, bool speaks) {
    return loss_logger<type>{speaks ? every_or_never(settings.log_step_count_steps) : any_trigger(never),
                             {.log = speaks && settings.log ? settings.log : log_sink([](std::string_view) {})}};
  }
  static auto summaries(training_events& events, training_settings const& settings) {
    return summary_saver<Loss, Metrics...>{events, every_or_never(events.file() != nullptr ? settings.save_summaries_steps : 0)};
  }
};

template <class Graph>
struct training_lacks_header : reason {
  static consteval void say() {
    static_assert(mended<training_lacks_header>,
                  "tautline: a training over a tensorflow_graph needs a header of its own. Mend: include "
                  "<tautline/training/tensorflow_training.hpp>");
  }
};

/// What depends on the kind of the graph. @tparam Graph without a reference
template <class Graph>
struct training_setup {
  static constexpr bool lacks_header = is_tensorflow_graph<Graph>;
  using checkpoints = training_checkpoints;
  /// The graph, told what the settings say. @param saves whether the default saver works
  static Graph&& prepared(Graph&& graph, training_settings const&, bool) { return static_cast<Graph&&>(graph); }
  static Graph& prepared(Graph& graph, training_settings const&, bool) { return graph; }
  /// How the default saver counts.
  static any_trigger counted(any_trigger when, Graph const&) { return when; }
  /// Further default hooks, in front of the others and behind them.
  template <class... Hooks>
  static std::tuple<> first(training_settings const&) { return {}; }
  template <class Model>
  static std::tuple<> last(training_settings const&, training_events&) { return {}; }
};

/// What a training owns beside its session, made before it and gone after it.
template <class Checkpoints>
struct training_parts {
  training_parts(training_settings const& settings, bool saves) : checkpoints(settings, saves), events(settings) {}
  Checkpoints checkpoints;
  training_events events;
};

// --- the session ----------------------------------------------------------------------------------------------------

template <class Hook>
auto one_or_none(Hook&& hook) {
  if constexpr (std::is_same_v<std::remove_cvref_t<Hook>, left_out>) {
    return std::tuple<>{};
  } else {
    return std::tuple<std::remove_cvref_t<Hook>>(std::forward<Hook>(hook));
  }
}

/// Says what went wrong in the destructor, where nobody called `close()` to hear it.
struct report_close {
  log_sink log;
  void operator()(error const& happened) const {
    char words[600];
    happened.write_to(words, sizeof words);
    if (log) log(std::string("the training did not end well: ") + words);
  }
};

/// Stands for an option that is given already. Of a type of its own for each, as bases must be.
template <int>
struct given_already {};

/// The options that are given, and those that a training has otherwise.
template <class Checkpoints, class... Given>
auto training_options(Checkpoints& checkpoints, log_sink const& log, options<Given...>&& given) {
  using all = options<Given...>;
  auto const clock = [] {
    if constexpr (has_clock<all>) {
      return given_already<0>{};
    } else {
      return with_clock{steady_clock_ticks{}};
    }
  }();
  auto const sleep = [] {
    if constexpr (has_sleep<all>) {
      return given_already<1>{};
    } else {
      return with_sleep{thread_sleeper{}};
    }
  }();
  auto const from = [&] {
    if constexpr (has_restorer<all>) {
      return given_already<2>{};
    } else {
      return restore_from<Checkpoints>(checkpoints);
    }
  }();
  auto const at_close = [&] {
    if constexpr (has_close_handler<all>) {
      return given_already<3>{};
    } else {
      return on_close_error{report_close{log}};
    }
  }();
  return options{clock, sleep, from, at_close, static_cast<Given&&>(given)...};
}

/// A monitored session, and what it writes to.
template <class Model, class Graph, class Options, class... Hooks>
class training_session {
  static constexpr bool has_saver = (false || ... || is_saver<typename argument_of<Hooks>::hook>);
  static constexpr bool has_nan_check = (false || ... || is_nan_check<Hooks>);
  using setup = training_setup<std::remove_cvref_t<Graph>>;
  using parts_type = training_parts<typename setup::checkpoints>;

  static auto make(Graph&& graph, training_settings const& settings, parts_type& parts, Options&& given, Hooks&&... hooks) {
    bool const chief = settings.role == role::chief;
    using of_model = hooks_of_model<Model>;
    auto check = [] {
      if constexpr (has_nan_check) {
        return left_out{};
      } else {
        return of_model::check();
      }
    };
    auto save = [&] {
      if constexpr (has_saver) {
        return left_out{};
      } else {
        return checkpoint_saver{parts.checkpoints, setup::counted(when_to_save(settings, parts.checkpoints.saves()), graph)};
      }
    };
    bool const two = settings.save_checkpoint_steps.value_or(0) > 0 && settings.save_checkpoint_seconds.value_or(0) > 0;
    return std::apply(
        [&](auto&&... all) {
          return monitored(setup::prepared(static_cast<Graph&&>(graph), settings, parts.checkpoints.saves()),
                           training_options(parts.checkpoints, settings.log, static_cast<Options&&>(given)), std::move(all)...);
        },
        std::tuple_cat(
            one_or_none(settings_check{two}), setup::template first<Hooks...>(settings), one_or_none(check()), one_or_none(of_model::logger(settings, chief)),
            one_or_none(step_rate_logger{every_or_never(chief ? settings.log_step_count_steps : 0),
                                         {.log = settings.log, .writer = parts.events}, "global_step/sec"}),
            one_or_none(of_model::summaries(parts.events, settings)), setup::template last<Model>(settings, parts.events),
            one_or_none(save()),
            std::tuple<std::remove_cvref_t<Hooks>...>(static_cast<Hooks&&>(hooks)...)));
  }

 public:
  training_session(Graph&& graph, training_settings settings, Options&& given, Hooks&&... hooks)
      : settings_(std::move(settings)),
        parts_(settings_, !has_saver),
        session_(make(static_cast<Graph&&>(graph), settings_, parts_, static_cast<Options&&>(given),
                      static_cast<Hooks&&>(hooks)...)) {}
  training_session(training_session const&) = delete;
  training_session& operator=(training_session const&) = delete;

  /// The session: `training->run_to_completion(target<"train">)`.
  [[nodiscard]] auto* operator->() { return &session_; }
  [[nodiscard]] auto& operator*() { return session_; }

  /// The checkpoints, null if there are none; the event file, null if there is none.
  [[nodiscard]] auto* checkpoints() const { return parts_.checkpoints.own(); }
  [[nodiscard]] event_file* events() const { return parts_.events.file(); }

 private:
  training_settings settings_;
  parts_type parts_;
  decltype(make(std::declval<Graph&&>(), settings_, parts_, std::declval<Options&&>(), std::declval<Hooks&&>()...)) session_;
};

}  // namespace detail
TAUTLINE_END
