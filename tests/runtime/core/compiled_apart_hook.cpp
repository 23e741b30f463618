// SPDX-License-Identifier: BSL-1.0
#include "compiled_apart.hpp"

#include <tautline/sessions/step_function.hpp>

void stops_apart::begun(tautline::life& at) {
  if (at.stop_requested()) at.fail(tautline::error_kind::invalid_argument, "stopped before it began");
}

void stops_apart::before_run(tautline::run_context_base& ctx) { before = ctx.step(); }

void stops_apart::after_run(tautline::run_context_base& ctx) {
  if (ctx.due()) due_at = ctx.step();
  if (ctx.step() == 7) ctx.fail(tautline::error_kind::cancelled, {"step {} is unlucky", ctx.step()});
  if (ctx.step() >= last_ && !ctx.vetoed()) ctx.request_stop({"step {} is the last", ctx.step()});
}

void stops_apart::on_error(tautline::error const& happened) { told = happened.kind; }
void stops_apart::close() { closed = true; }

tautline::step_number train_apart(tautline::step_number steps) {
  auto session = tautline::monitored(tautline::step_function([] {}), stops_apart{steps});
  return session.run_to_completion().steps;
}
