// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/testing/laws.hpp>

#include <functional>
#include <limits>

#include <tautline/testing/laws/isolated.hpp>
#include <tautline/testing/laws/state_laws.hpp>

TAUTLINE_BEGIN
namespace testing {
namespace detail {

/// What failed, and what that left behind.
struct failed_case {
  std::string problem;
  std::string leak;
};

/// Plays one case, in a world of its own, twice: what is left of the second time is a leak.
template <class Play>
failed_case play_case(std::string const& name, Play const& play_it) {
  failed_case found;
  found.problem = play_it(true);
  long const before = live_allocations();
  {
    std::string const again = play_it(false);  // used again, a hook might give back what it has lost
  }
  long const left = live_allocations() - before;
  if (left != 0) found.leak = name + ": " + std::to_string(left) + " allocations are still there\n";
  if (!found.problem.empty()) found.problem = name + ": " + found.problem;
  return found;
}

/// After a training that failed: how it ended, and that the hook can be used again, for so many runs.
inline std::string check_failed(subject const& of, law_world& world, hook_box& hooks, live_session& session,
                                error_kind expected, int attached, long ends, long runs) {
  std::string problem;
  if (session.is_open()) problem += "the session is still open\n";
  if (session.status().kind != expected) {
    problem += "the error is " + in_words(session.status()) + ", not " + to_string(expected) + "\n";
  }
  if (session.attached() != attached) {
    problem += std::to_string(session.attached()) + " later errors, expected " + std::to_string(attached);
    problem += session.attached() > 0 ? ": " + in_words(session.attached_at(0)) + "\n" : "\n";
  }
  problem += check_calls(of, world, ends);
  if (runs == 0) return problem;
  world.before.plan({});
  world.after.plan({});
  world.keeper.fails = {};
  world.plan.run_faults.clear();
  world.plan.create_faults.clear();
  world.plan.rewind();
  world.out.clear();
  world.store.clear();
  played const again = play(of, world, hooks, runs);
  if (again.end.starts_with("error")) problem += "used again: " + again.end + "\n";
  return problem;
}

inline std::string play_hook_fault(subject const& of, law_options const& given, hook_fault fault, bool before, long again,
                                   bool& took_place) {
  law_world world;
  prepare(world, given);
  world.keeper.begin_counting(of.has_close.size());
  auto const hooks = of.make_hooks(world.out);
  if (fault.where == callback::save) {
    world.keeper.fails = fault;
  } else if (before) {
    world.before.plan(fault);
  } else {
    world.after.plan(fault);
  }
  if (fault.where == callback::on_error) world.plan.run_faults = {{.at = 3, .kind = error_kind::invalid_argument}};
  auto const session = of.make_session(world, *hooks);
  for (long i = 0; i < given.runs && session->is_open() && !session->should_stop(); ++i) session->run();
  session->close();
  took_place = took_place || fault.where == callback::save || world.before.failed() + world.after.failed() > 0;
  if (!session->status()) return {};  // it stopped before it came to that callback
  bool const at_end = fault.where == callback::end || fault.where == callback::close;
  bool const second = fault.where == callback::on_error;
  return check_failed(of, world, *hooks, *session, second ? error_kind::invalid_argument : error_kind::internal, second ? 1 : 0,
                      at_end ? 1 : 0, again);
}

struct failures {
  std::string problem;
  std::string leak;
  void add(failed_case const& found) {
    if (lines++ < 4) problem += found.problem, leak += found.leak;
    if (found.problem.empty() && found.leak.empty()) --lines;
  }
  int lines = 0;
};

inline failures try_hook_faults(subject const& of, law_options const& given) {
  failures all;
  bool took_place = false;
  for (callback const where : {callback::begin, callback::after_create_session, callback::before_run, callback::gate,
                               callback::after_run, callback::save, callback::on_error, callback::end, callback::close}) {
    bool const in_run = where == callback::before_run || where == callback::gate || where == callback::after_run;
    for (bool const before : {true, false}) {
      for (bool const thrown : {true, false}) {
        for (long const call : {1L, 3L}) {
          if ((call > 1 && !in_run) || (thrown && !TAUTLINE_EXCEPTIONS)) continue;
          hook_fault const fault{.where = where, .call = call, .thrown = thrown};
          std::string const name = std::string(before ? "a hook before it" : "a hook after it") +
                                   (thrown ? " throws in " : " fails in ") + to_string(where);
          all.add(play_case(name, [&](bool again) {
            return play_hook_fault(of, given, fault, before, again ? given.runs : 0, took_place);
          }));
        }
      }
    }
  }
  if (!took_place) all.problem += "no failure took place: the session stops before its first run\n";
  return all;
}

inline std::string play_session_fault(subject const& of, law_options const& given, bool making, fault planned, long times,
                                      long again, bool& takes_faults) {
  law_world world;
  prepare(world, given);
  world.keeper.begin_counting(of.has_close.size());
  auto const hooks = of.make_hooks(world.out);
  auto& faults = making ? world.plan.create_faults : world.plan.run_faults;
  for (long i = 0; i < times; ++i, ++planned.at) faults.push_back(planned);
  auto const session = of.make_session(world, *hooks);
  if (making && world.plan.attempts == 0) {
    takes_faults = false;
    return {};
  }
  for (long i = 0; i < given.runs && session->is_open() && !session->should_stop(); ++i) session->run();
  session->close();
  if (!session->status()) return {};  // it stopped before
  return check_failed(of, world, *hooks, *session, planned.kind, 0, 0, again);
}

inline failures try_session_faults(subject const& of, law_options const& given) {
  failures all;
  bool takes_faults = true;
  auto const add = [&](std::string const& name, bool making, fault planned, long times) {
    all.add(play_case(name, [&](bool again) {
      return play_session_fault(of, given, making, planned, times, again ? given.runs : 0, takes_faults);
    }));
  };
  for (fault_as const how : {fault_as::value, fault_as::exception, fault_as::derived}) {
    if (how != fault_as::value && !TAUTLINE_EXCEPTIONS) continue;
    add("the first run fails", false, {1, error_kind::internal, how}, 1);
    add("the third run fails", false, {3, error_kind::cancelled, how}, 1);
    add("runs are aborted, again and again", false, {3, error_kind::aborted, how}, 9);
    add("the session cannot be made", true, {1, error_kind::internal, how}, 1);
    add("the session cannot be made, again and again", true, {1, error_kind::unavailable, how}, 9);
  }
  return all;
}

// --- what is recovered ----------------------------------------------------------------------------------------------

inline outcome_of_law try_recovery(subject const& of, law_options const& given, bool kept) {
  played const whole = play_fresh(of, given, given.runs);
  if (!whole.opened) return {check_opened(whole)};
  std::string problem;
  for (long const saved : {1L, 3L, 5L}) {
    long const first = saved + 2;
    law_world world;
    prepare(world, given);
    world.plan.keeps_on_recreate = kept;
    if (!kept) world.keeper.save_at = world.plan.initial_step + saved * world.plan.steps_per_run;
    world.plan.run_faults = {{first, error_kind::aborted}, {first + 3, error_kind::unavailable}};
    auto const hooks = of.make_hooks(world.out);
    auto const session = of.make_session(world, *hooks);
    for (long i = 0; i < 4 * given.runs && session->is_open() && !session->should_stop() && session->completed() < whole.steps; ++i) {
      session->run();
    }
    std::string const at = "raw runs " + std::to_string(first) + " and " + std::to_string(first + 3) + " aborted: ";
    if (session->status()) problem += at + end_of(*session) + "\n";
    if (session->completed() != whole.steps) {
      problem += at + "it came to step " + std::to_string(session->completed()) + ", not " + std::to_string(whole.steps) + "\n";
    } else if (!kept && session->is_open()) {
      problem += compare(at + "state, without and with recoveries", whole.state.difference(snapshot(session->state()), false));
    }
    session->close();
    if (session->status() && problem.empty()) problem += at + end_of(*session) + "\n";
  }
  return {problem};
}

inline outcome_of_law try_empty_input(subject const& of, law_options const& given) {
  law_world world;
  prepare(world, given);
  world.plan.input_length = 0;
  auto const hooks = of.make_hooks(world.out);
  played const done = play(of, world, *hooks, 2);
  std::string problem = check_opened(done);
  if (done.end.starts_with("error")) problem += done.end + "\n";
  if (done.runs > 0) problem += "a run took place\n";
  return {problem + check_calls(of, world, 1)};
}

// --- values ---------------------------------------------------------------------------------------------------------

inline std::string play_bad_values(subject const& of, law_options const& given, std::vector<double> const& bad) {
  law_world world;
  prepare(world, given);
  auto const spoiled = [bad](scripted_value const& good) {
    return scripted_value([bad, good](long at) {
      if (at < 3) return good.of(at, [](std::string_view) -> double const* { return nullptr; });
      return bad[static_cast<std::size_t>(at) % bad.size()];
    });
  };
  for (auto& [name, value] : world.plan.values) value = spoiled(value);
  world.plan.other_values = spoiled(world.plan.other_values);
  auto const hooks = of.make_hooks(world.out);
  auto const session = of.make_session(world, *hooks);
  if (!session->is_open()) return "the session could not be made: " + end_of(*session) + "\n";
  std::string problem;
  for (long i = 0; i < given.runs && session->is_open() && !session->should_stop(); ++i) session->run();
  if (session->status() && session->status().kind != error_kind::nan) problem += end_of(*session) + "\n";
  if (session->is_open()) {
    law_world other;
    prepare(other, given);
    other.out.finds_files_of(world.out);
    other.plan.values = world.plan.values;
    other.plan.other_values = world.plan.other_values;
    snapshot const saved(session->state());
    other.store.save(saved);
    other.store = other.store.reopened();
    auto const new_hooks = of.make_hooks(other.out);
    played const found = play(of, other, *new_hooks, 0, closing::killed);
    problem += compare("saved, and restored in a new process", saved.difference(found.state));
  }
  session->close();
  if (session->status() && session->status().kind != error_kind::nan && problem.empty()) problem += end_of(*session) + "\n";
  return problem;
}

inline outcome_of_law try_bad_values(subject const& of, law_options const& given) {
  using limits = std::numeric_limits<double>;
  struct {
    char const* name;
    std::vector<double> values;
  } const cases[] = {{"NaN", {limits::quiet_NaN()}},
                     {"infinity", {limits::infinity()}},
                     {"minus infinity", {-limits::infinity()}},
                     {"huge", {limits::max(), -limits::max(), 1e300}},
                     {"tiny and zero", {limits::denorm_min(), 0.0, -0.0}},
                     {"all kinds", {limits::quiet_NaN(), 1, limits::infinity(), -limits::max(), 0, -limits::infinity()}}};
  std::string problem;
  for (auto const& one : cases) {
    std::string const found = isolated([&] { return play_bad_values(of, given, one.values); });
    if (!found.empty()) problem += std::string(one.name) + ": " + found;
  }
  return {problem};
}

inline outcome_of_law try_no_allocation(subject const& of, law_options const& given) {
  if (!counts_allocations()) return {"", "include <tautline/testing/count_allocations.hpp> in one file of the program"};
  law_world world;
  prepare(world, given);
  auto const hooks = of.make_hooks(world.out);
  played const done = play(of, world, *hooks, given.runs);
  long taken = 0;
  for (callback_counts const& one : world.keeper.counts()) taken += one.allocations_in_steps;
  if (taken == 0) return {};
  std::string const seen = std::to_string(taken) + " allocations in " + std::to_string(done.runs) + " steps";
  if (of.is_real_time || given.no_heap) return {seen + "\n"};
  return {"", seen + "; it does not declare real_time"};
}

}  // namespace detail
}  // namespace testing
TAUTLINE_END
