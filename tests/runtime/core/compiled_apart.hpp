// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core.hpp>

/// A hook whose body is in a translation unit of its own: it sees no graph, no session type and no other hook.
class stops_apart {
 public:
  explicit stops_apart(tautline::step_number last) : last_(last) {}

  tautline::every_steps trigger{2};

  void begin(auto&, tautline::life& at) { begun(at); }
  void before_run(tautline::run_context_base& ctx);
  void after_run(tautline::run_context_base& ctx);
  void end(auto&, tautline::life& at) { ended_at = at.step(); }
  void on_error(tautline::error const& happened);
  void close();

  tautline::step_number before = 0;
  tautline::step_number due_at = 0;
  tautline::step_number ended_at = 0;
  tautline::error_kind told = tautline::error_kind::none;
  bool closed = false;

 private:
  static void begun(tautline::life& at);
  tautline::step_number last_;
};

/// A whole training, driven from there.
tautline::step_number train_apart(tautline::step_number steps);
