// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <chrono>
#include <string>

#include <tautline/core/config.hpp>
#include <tautline/sessions/role.hpp>
#include <tautline/sessions/tensorflow/session_config.hpp>

TAUTLINE_BEGIN
namespace tensorflow {

/// Names of what a graph has for its own life. An empty one stands for what the meta graph lists (its collections, its
/// saver), else for the name that the original gives it, where the graph has that: "init", "local_init", "global_step",
/// "save/control_dependency"; else for nothing.
/// **Source** tf.train.Scaffold.
struct scaffold {
  std::string init_op{};                  ///< target: initialises all variables that are not of one process alone
  std::string local_init_op{};            ///< target: variables, tables, iterators of a process; in each new session
  std::string ready_op{};                 ///< strings: what is not initialised yet; without one all variables are asked
  std::string ready_for_local_init_op{};  ///< the same, asked before the local init op
  std::string global_step{};              ///< value: an integer variable, from which the session's steps begin
  std::string saver_filename{};           ///< feed: where the graph's own saver writes to or reads from
  std::string saver_save{};               ///< target or value: saves
  std::string saver_restore{};            ///< target: restores

  /// Takes what is empty here from another one.
  void fill_from(scaffold const& other) {
    for (std::string scaffold::*each : {&scaffold::init_op, &scaffold::local_init_op, &scaffold::ready_op,
                                        &scaffold::ready_for_local_init_op, &scaffold::global_step,
                                        &scaffold::saver_filename, &scaffold::saver_save, &scaffold::saver_restore}) {
      if ((this->*each).empty()) this->*each = other.*each;
    }
  }
};

/// How a session over a graph is made.
struct session_settings {
  /// The engine that runs the graph: in this process, or "grpc://host:port".
  std::string target{};
  /// The chief restores or initialises the variables, a worker waits until somebody has.
  tautline::role role = tautline::role::chief;
  /// A worker waits so long for the chief; then the making of the session fails.
  std::chrono::milliseconds max_wait{std::chrono::hours(2)};
  /// So long it sleeps between two looks.
  std::chrono::milliseconds recovery_wait{500};
  /// A remote engine, and all machines that it works with, must answer within this time when a session is made, or
  /// closed.
  std::chrono::milliseconds connect_wait{std::chrono::seconds(60)};
  /// What the session may use of this machine and of others.
  session_config config{};
  tensorflow::scaffold scaffold{};
};

}  // namespace tensorflow
TAUTLINE_END
