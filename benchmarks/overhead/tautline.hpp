// SPDX-License-Identifier: BSL-1.0
#pragma once

// tautline over a static graph: one fused loop, the coroutine that shows each run, slices of 100 runs, and the classic
// loop.

#include <utility>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "training.hpp"

namespace overhead {

using tautline::fetch;
using tautline::target;

/// A hook, with the callbacks that its body needs.
template <kind Kind, std::size_t Index, class Body>
struct hook {
  Body body;
  void after_run(auto& run) {
    if constexpr (Body::needs == wants::step) {
      if (body.after(run.step())) run.request_stop("last step");
    } else {
      body.after();
    }
  }
};
template <kind Kind, std::size_t Index, looks_before Body>
struct hook<Kind, Index, Body> {
  Body body;
  void before_run(auto&) { body.before(); }
  void after_run(auto&) { body.after(); }
};
template <kind Kind, std::size_t Index, class Body>
  requires(Body::needs == wants::loss)
struct hook<Kind, Index, Body> {
  Body body;
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto& run, auto const& values) {
    if (!body.after(values[fetch<"loss">])) run.fail(tautline::error_kind::nan, "loss is not finite");
  }
};
template <kind Kind, std::size_t Index, class Body>
  requires(Body::needs == wants::loss_when_due)
struct hook<Kind, Index, Body> {
  Body body;
  tautline::every_steps trigger{opaque(period)};
  auto before_run(auto& run) { return ask_if(run.due(), fetch<"loss">); }
  void after_run(auto&, auto const& values) { body.after(values[fetch<"loss">]); }
};

template <kind Kind, std::size_t Index>
using hook_at = hook<Kind, Index, body_at<Kind, Index>>;

template <class Step>
auto make_graph(std::int64_t steps) {
  using model = typename Step::model;
  using input = typename Step::input;
  using values = typename Step::values;
  return tautline::static_graph{}
      .variable<"model">(Step::initial())
      .template source<"x">(input{}, [points = Step::input_of(steps)](input& x) mutable { return points.next(x); })
      .template op<"values", "model", "x">(
          values{}, [](values& out, model const& line, input const& x) { Step::forward(out, line, x); })
      .template op<"loss", "values", "x">([](values const& out, input const& x) { return Step::loss(out, x); })
      .template update<"train", "model", "x", "values">(
          [](model& line, input const& x, values const& out) { Step::descend(line, x, out); });
}

/// The ways to drive a session. Each is a function of its own, so that a session is compiled once for all of them.
enum class drive { fused, coroutine, coroutine_pace_100, classic };

template <drive How, class Session>
[[gnu::noinline]] void drive_by(Session& session) {
  if constexpr (How == drive::fused) {
    (void)session.run_to_completion(target<"train">);
  } else if constexpr (How == drive::coroutine) {
    for (auto const& step : session.steps(target<"train">)) asm volatile("" : : "r"(&step));
  } else if constexpr (How == drive::coroutine_pace_100) {
    while (!session.should_stop()) (void)session.run_steps(100, target<"train">);
  } else {
    while (!session.should_stop()) (void)session.run(target<"train">);
  }
}

/// Makes a session with the hooks of the case, and has it driven.
template <class Step, kind Kind, std::size_t... Index>
[[gnu::noinline]] void with_session(drive how, probe& seen, record& into, std::int64_t steps,
                                    std::index_sequence<Index...>) {
  auto session = tautline::monitored(make_graph<Step>(steps),
                                     hook_at<Kind, Index>{make_body<body_at<Kind, Index>>(steps)}...);
  seen.start();
  switch (how) {
    case drive::fused: drive_by<drive::fused>(session); break;
    case drive::coroutine: drive_by<drive::coroutine>(session); break;
    case drive::coroutine_pace_100: drive_by<drive::coroutine_pace_100>(session); break;
    case drive::classic: drive_by<drive::classic>(session); break;
  }
  seen.stop();
  tell<Step>(into, session.raw()[fetch<"model">], session.completed_steps());
  (session.template hook<hook_at<Kind, Index>>().body.each([&](auto number) { into.add(number); }), ...);
}

template <drive How>
struct tautline_by {
  template <class Step, kind Kind, std::size_t Hooks>
  static void run(probe& seen, record& into, std::int64_t steps) {
    with_session<Step, Kind>(How, seen, into, steps, std::make_index_sequence<Hooks>{});
  }
};
/// `run_to_completion`.
struct fused : tautline_by<drive::fused> {
  static constexpr char const* name = "fused";
};
/// `for (auto const& step : session.steps(…))`: each run is shown.
struct coroutine : tautline_by<drive::coroutine> {
  static constexpr char const* name = "coroutine";
};
/// `run_steps(100, …)` in a loop: the coroutine is left after each 100 runs.
struct coroutine_pace_100 : tautline_by<drive::coroutine_pace_100> {
  static constexpr char const* name = "coroutine_pace_100";
};
/// `while (!session.should_stop()) session.run(…)`, as with the original systems.
struct classic : tautline_by<drive::classic> {
  static constexpr char const* name = "classic";
};

}  // namespace overhead
