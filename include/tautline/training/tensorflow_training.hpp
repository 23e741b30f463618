// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tautline/adapt/chrono.hpp>
#include <tautline/hooks/global_step_waiter.hpp>
#include <tautline/io/tensorflow_checkpoints.hpp>
#include <tautline/sessions/tensorflow.hpp>
#include <tautline/sessions/tensorflow/ops.hpp>
#include <tautline/training/detail/counted_trigger.hpp>
#include <tautline/training/monitored_training_session.hpp>

// `monitored_training_session` over a graph of TensorFlow:
//
//     auto training = monitored_training_session<net>(tensorflow_graph<>::from_meta_graph("model.meta")
//                                                         .value<"loss", float>()
//                                                         .value<"global_step", std::int64_t>()
//                                                         .alias<"train">("Adam")
//                                                         .step_target<"train">()
//                                                         .settings({.target = "grpc://localhost:2222"}),
//                                                     {.directory = "run", .role = role::worker, .task_index = 1},
//                                                     stop_at_step::of<"global_step">{10'000});
//
// - Checkpoints are those of the graph's saver, in `directory` itself, where Python looks for them. A graph without a
//   saver gets one.
// - `role` and `max_wait` are said in the settings of the training, and handed to the graph's.
// - A worker waits for the variables on the parameter server, and, by `task_index`, for the step at which it is to begin.
// - Where the graph has a `target`, a cluster, the default hooks of the chief count by the value "global_step", which has
//   to be declared: all workers advance it.

TAUTLINE_BEGIN
namespace detail {

/// The checkpoints of a training that may have none: the graph's own, or safetensors. A worker has none of them: the
/// variables are where all workers find them.
class tensorflow_training_checkpoints {
 public:
  static constexpr bool refuses_not_finite = true;
  static constexpr bool runs_session = true;

  tensorflow_training_checkpoints(training_settings const& settings, bool wanted) {
    if (settings.directory.empty() || !wanted || settings.role != role::chief) return;
    if (settings.checkpoint_format == checkpoint_format::safetensors) {
      safetensors_ = std::make_unique<training_checkpoints>(settings, wanted);
    } else {
      own_ = std::make_unique<tensorflow_checkpoints>(
          settings.directory, tensorflow_checkpoint_options{.keep = settings.keep_checkpoints, .report = settings.log});
    }
  }
  [[nodiscard]] bool saves() const { return own_ != nullptr || safetensors_ != nullptr; }
  [[nodiscard]] tensorflow_checkpoints* own() const { return own_.get(); }

  // as a sink
  status save(training_state const& state) {
    if (!own_) return safetensors_ ? safetensors_->save(state) : status{};
    status const done = own_->save(state);
    if (done.kind == error_kind::aborted || done.kind == error_kind::unavailable) return done;
    finished_ = {done, state.step(), done.ok() ? own_->last_path() : ""};
    is_finished_ = true;
    return {};
  }
  [[nodiscard]] bool is_empty() { return own_ ? own_->is_empty() : !safetensors_ || safetensors_->is_empty(); }
  status prepare(training_state const& state) {
    return own_ ? own_->prepare(state) : safetensors_ ? safetensors_->prepare(state) : status{};
  }
  bool next_finished(finished_save& done) {
    if (!own_) return safetensors_ && safetensors_->next_finished(done);
    done = finished_;
    return std::exchange(is_finished_, false);
  }
  status finish() { return safetensors_ ? safetensors_->finish() : status{}; }

  // as a restorer
  restored restore(training_state const& state) {
    return own_ ? own_->restore(state) : safetensors_ ? safetensors_->restore(state) : restored{};
  }

 private:
  std::unique_ptr<tensorflow_checkpoints> own_;
  std::unique_ptr<training_checkpoints> safetensors_;
  finished_save finished_{};
  bool is_finished_ = false;
};

/// Writes the graph to the event file where there are no summaries that do.
struct graph_writer {
  static constexpr bool stateless = true;
  training_events* events;
  bool told = false;

  template <class Graph>
  void begin(Graph&) noexcept {
    told = false;
  }
  template <class Session>
  void after_create_session(Session& session) {
    if (!std::exchange(told, true)) events->add_graph(session.state());
  }
};

template <class Hook>
inline constexpr bool is_step_waiter = false;
template <class Sleeper, class Log>
inline constexpr bool is_step_waiter<global_step_waiter<Sleeper, Log>> = true;

template <fixed_string StepTarget, fixed_string... Names, class... Types>
struct training_setup<tensorflow_graph<StepTarget, tensorflow::declared<Names, Types>...>> {
  using graph_type = tensorflow_graph<StepTarget, tensorflow::declared<Names, Types>...>;
  using checkpoints = tensorflow_training_checkpoints;
  static constexpr bool counts = (false || ... || (Names == fixed_string{"global_step"}));

  /// One place says what the session is.
  static graph_type prepared(graph_type&& graph, training_settings const& settings, bool saves) {
    tensorflow::session_settings told = graph.settings();
    if (told.role == role::worker && settings.role == role::chief) {
      graph.fail(error_kind::invalid_argument,
                 "the graph's settings say that this is a worker, and the training's that it is the chief. Mend: say "
                 "it in the "
                 "training's, .role = role::worker");
    }
    std::chrono::milliseconds const wait = settings.max_wait, by_default = training_settings{}.max_wait;
    if (wait != by_default) {
      if (told.max_wait != tensorflow::session_settings{}.max_wait && told.max_wait != wait) {
        graph.fail(error_kind::invalid_argument,
                   "the settings of the graph and of the training have a max_wait each, and not the "
                   "same. Mend: say it in the training's");
      }
      told.max_wait = wait;
    }
    told.role = settings.role;
    if (!counts && saves && !told.target.empty()) {
      graph.fail(error_kind::invalid_argument,
                 "the chief of a cluster saves by the global step, which the graph does not declare. "
                 "Mend: .value<\"global_step\", std::int64_t>()");
    }
    bool const wants_saver = saves && settings.checkpoint_format == checkpoint_format::of_graph;
    bool const has_saver =
        !told.scaffold.saver_restore.empty() || TF_GraphOperationByName(graph.handle(), "save/restore_all") != nullptr;
    // what hooks build later is saved, too: it is seen to when the graph is finished
    if (wants_saver && !has_saver && !tensorflow::detail::find_variables(graph.handle()).empty())
      (void)graph.ops().saver();
    return std::move(graph).settings(std::move(told));
  }
  /// By the global step where others advance it, too.
  static auto counted(any_trigger when, graph_type const& graph) {
    if constexpr (counts) {
      return counted_trigger<"global_step">{when, !graph.settings().target.empty()};
    } else {
      return when;
    }
  }
  template <class... Hooks>
  static auto first(training_settings const& settings) {
    if constexpr ((false || ... || is_step_waiter<typename argument_of<Hooks>::hook>)) {
      return std::tuple<>{};
    } else {
      bool const waits = settings.role == role::worker && settings.task_index > 0;
      auto const steps = static_cast<step_number>(500 * std::log(static_cast<double>(settings.task_index) + 1));
      return std::tuple(global_step_waiter{waits ? steps : 0, thread_sleeper{},
                                           [log = settings.log](char const* line) { log(line); }});
    }
  }
  template <class Model>
  static auto last(training_settings const&, training_events& events) {
    if constexpr (std::is_void_v<Model>) {
      return std::tuple(graph_writer{&events});
    } else {
      return std::tuple<>{};
    }
  }
};

}  // namespace detail
TAUTLINE_END
