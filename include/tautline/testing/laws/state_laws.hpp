// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/testing/laws.hpp>

#include <algorithm>

#include <tautline/testing/laws/play.hpp>

TAUTLINE_BEGIN
namespace testing {
namespace detail {

inline std::string check_opened(played const& done) {
  return done.opened ? std::string() : "the session could not be made: " + done.end + "\n";
}

/// One object, used three times, the second time only in part.
inline outcome_of_law try_reset(subject const& of, law_options const& given) {
  law_world world;
  prepare(world, given);
  auto const hooks = of.make_hooks(world.out);
  played const first = play(of, world, *hooks, given.runs);
  if (!first.opened) return {check_opened(first)};
  auto const again = [&](long runs, closing how) {
    world.plan.rewind();
    world.out.clear();
    return play(of, world, *hooks, runs, how);
  };
  std::string problem;
  played const second = again(given.runs, closing::in_order);
  problem += compare("state of the first and of the second training", first.state.difference(second.state));
  problem += compare("end of the first and of the second training", first_difference(first.end + "\n", second.end + "\n"));
  problem += compare("output of the first and of the second training", first_difference(first.said, second.said));
  if (!problem.empty()) return {problem};
  (void)again(given.runs / 2 + 1, closing::killed);
  played const last = again(given.runs, closing::in_order);
  problem += compare("state of a first training, and after one that was broken off", first.state.difference(last.state));
  problem += compare("output of a first training, and after one that was broken off", first_difference(first.said, last.said));
  return {problem};
}

inline std::string compare_forms(snapshot const& one, snapshot const& other) {
  std::string problem;
  for (saved_item const& item : one.items()) {
    saved_item const* const match = other.find(item.name);
    if (match == nullptr) {
      problem += item.name + " is not always listed\n";
    } else if (item.type != match->type || item.shape.size() != match->shape.size() ||
               (!item.resizable && item.shape != match->shape)) {
      problem += item.name + " has not always the same form\n";
    }
  }
  if (one.items().size() < other.items().size()) problem += "more fields are listed later\n";
  return problem;
}

inline outcome_of_law try_stable_fields(subject const& of, law_options const& given) {
  played const begun = play_fresh(of, given, 0);
  if (!begun.opened) return {check_opened(begun)};
  std::string problem = compare_forms(begun.state, play_fresh(of, given, 1).state);
  if (problem.empty()) problem = compare_forms(begun.state, play_fresh(of, given, given.runs).state);
  std::vector<std::string> names;
  for (saved_item const& item : begun.state.items()) names.push_back(item.name);
  std::sort(names.begin(), names.end());
  auto const twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) problem += *twice + " is listed twice\n";
  return {problem};
}

inline outcome_of_law try_round_trip(subject const& of, law_options const& given) {
  law_world world;
  prepare(world, given);
  auto const hooks = of.make_hooks(world.out);
  snapshot saved;
  std::string problem;
  {
    auto const session = of.make_session(world, *hooks);
    for (long i = 0; i < given.runs / 2 + 1 && session->is_open() && !session->should_stop(); ++i) session->run();
    if (!session->is_open()) return {"", "the session closed before anything could be saved: " + end_of(*session)};
    saved = snapshot(session->state());
    session->state().each([](state_item const& item) {
      auto* const bytes = static_cast<unsigned char*>(item.view.data);
      for (std::size_t i = 0; i < item.view.bytes(); ++i) bytes[i] = static_cast<unsigned char>(bytes[i] ^ 0x5aU);
    });
    problem = saved.write_to(session->state());
    problem += compare("saved, and put back", saved.difference(snapshot(session->state())));
    session->abandon();
  }
  law_world other;
  prepare(other, given);
  other.out.finds_files_of(world.out);
  other.store.save(saved);
  other.store = other.store.reopened();
  auto const new_hooks = of.make_hooks(other.out);
  played const found = play(of, other, *new_hooks, 0, closing::killed);
  if (!found.opened) return {problem + check_opened(found)};
  problem += compare("saved, and restored in a new process", saved.difference(found.state));
  return {problem};
}

struct resumed {
  std::string state;   ///< problems
  std::string output;
};
/// N runs, killed, M runs, for every N.
inline resumed try_resume(subject const& of, law_options const& given) {
  played const whole = play_fresh(of, given, given.runs);
  if (!whole.opened) return {check_opened(whole), ""};
  bool const stopped = whole.end != "open";
  resumed found;
  int told = 0;
  for (long n = 0; n + (stopped ? 1 : 0) <= whole.runs && told < 2; ++n) {
    law_world first;
    prepare(first, given);
    auto const hooks = of.make_hooks(first.out);
    played const before = play(of, first, *hooks, n, closing::killed);
    law_world second;
    prepare(second, given);
    second.out.finds_files_of(first.out);
    second.plan.clock.advance(1'000'003);  // another machine, another time
    second.store.save(before.state);
    second.store = second.store.reopened();
    auto const new_hooks = of.make_hooks(second.out);
    played const after = play(of, second, *new_hooks, given.runs - n);
    std::string const at = "after " + std::to_string(n) + " runs: ";
    std::string state = check_opened(after);
    state += compare(at + "state, whole and resumed", whole.state.difference(after.state));
    state += compare(at + "end, whole and resumed", first_difference(whole.end + "\n", after.end + "\n"));
    std::string const output =
        compare(at + "output, whole and resumed", first_difference(whole.said, before.said_before + after.said)) +
        compare(at + "files, whole and resumed", first_difference(whole.files, after.files));
    found.state += state;
    found.output += output;
    told += state.empty() && output.empty() ? 0 : 1;
  }
  return found;
}

/// @param resumes whether it can be resumed at all
inline outcome_of_law try_several_steps(subject const& of, law_options given, bool resumes) {
  if (!of.may_jump) return {"", "runs of this kind of session make one step each"};
  played const single = play_fresh(of, given, given.runs);
  bool const fails = single.end.starts_with("error");
  auto const inner = given.prepare;
  given.prepare = [inner](script& plan) {
    if (inner) inner(plan);
    plan.steps_per_run = 3;
  };
  played const whole = play_fresh(of, given, given.runs);
  std::string problem = check_opened(whole);
  if (!fails && whole.end.starts_with("error")) problem += whole.end + "\n";
  if (whole.end == "open" && whole.steps != single.steps - single.runs + 3 * given.runs) problem += "it came to step " + std::to_string(whole.steps) + "\n";
  return {problem + (resumes ? try_resume(of, given).state : std::string())};
}

}  // namespace detail
}  // namespace testing
TAUTLINE_END
