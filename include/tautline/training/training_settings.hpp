// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <tautline/io/background_checkpoints.hpp>
#include <tautline/io/log_sink.hpp>
#include <tautline/sessions/role.hpp>

TAUTLINE_BEGIN

/// As what a training's checkpoints are written.
enum class checkpoint_format : std::uint8_t {
  of_graph,     ///< by what the graph itself has for it, as a TensorFlow graph its saver; else as safetensors
  safetensors,
};

/// How `monitored_training_session` sets a training up. Numbers of 0 switch off.
struct training_settings {
  /// Of checkpoints and event files; empty: neither is written or restored.
  std::string directory{};
  /// Of event files; empty: `directory`.
  std::string summary_directory{};
  tautline::role role = role::chief;
  /// Which of the workers of a cluster this is, from 0: the later ones wait until the global step is 500 log(task_index + 1).
  std::size_t task_index = 0;
  std::optional<step_number> save_checkpoint_steps{};  ///< at most one of this and the next; without both 600 seconds
  std::optional<double> save_checkpoint_seconds{};
  step_number save_summaries_steps = 100;
  step_number log_step_count_steps = 100;  ///< steps a second, for people and as a summary
  std::size_t keep_checkpoints = 5;
  tautline::checkpoint_format checkpoint_format = checkpoint_format::of_graph;
  /// A worker waits so long for the chief's first checkpoint; in a cluster of TensorFlow, for the variables.
  std::chrono::seconds max_wait{7200};
  writing_options writing{};
  /// Lines for people; `false` silences all default hooks.
  log_sink log{};
};

TAUTLINE_END
