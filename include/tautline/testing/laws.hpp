// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <utility>

#include <tautline/testing/law_report.hpp>
#include <tautline/testing/laws/failure_laws.hpp>
#include <tautline/testing/laws/play.hpp>
#include <tautline/testing/laws/state_laws.hpp>
#include <tautline/testing/laws/subject.hpp>

TAUTLINE_BEGIN
namespace testing {
namespace detail {

inline void add_finding(law_report& report, law_options const& given, law which, outcome_of_law found) {
  finding made{which, found.problem.empty() ? verdict::holds : verdict::fails, std::move(found.problem)};
  if (!found.not_looked_at.empty()) made = {which, verdict::not_looked_at, std::move(found.not_looked_at)};
  for (law_exception const& one : given.except) {
    if (one.which != which) continue;
    if (made.how == verdict::fails) made = {which, verdict::excepted, one.reason};
    if (made.how == verdict::holds) made = {which, verdict::stale, "it holds; the exception was made since " + one.reason};
  }
  report.findings.push_back(std::move(made));
}

inline law_report try_laws(subject const& of, law_options const& given) {
  law_report report;
  report.hook = given.name.empty() ? of.name : given.name;
  auto const add = [&](law which, outcome_of_law found) { add_finding(report, given, which, std::move(found)); };
  add(law::reset, try_reset(of, given));
  add(law::stable_fields, try_stable_fields(of, given));
  add(law::round_trip, try_round_trip(of, given));
  resumed const found = try_resume(of, given);
  bool const resumes = found.state.empty();
  add(law::resume, {found.state});
  add(law::resume_output, {found.output});
  failures const of_hooks = try_hook_faults(of, given);
  failures const of_sessions = try_session_faults(of, given);
  add(law::error_of_hook, {of_hooks.problem});
  add(law::error_of_session, {of_sessions.problem});
  add(law::no_leak, {of_hooks.leak + of_sessions.leak,
                     counts_allocations() ? "" : "include <tautline/testing/count_allocations.hpp> in one file of the program"});
  add(law::bad_values, try_bad_values(of, given));
  add(law::no_allocation, try_no_allocation(of, given));
  add(law::recovery, try_recovery(of, given, false));
  add(law::recovery_kept, try_recovery(of, given, true));
  add(law::empty_input, try_empty_input(of, given));
  add(law::several_steps, try_several_steps(of, given, resumes));
  return report;
}

struct make_scripted_session {
  scripted_session operator()(script& plan) const { return scripted_session(plan); }
};

}  // namespace detail

/// Several hooks as one, for `check_laws`: laws hold of them together.
template <class... Factories>
struct together {
  std::tuple<Factories...> factories;
  explicit together(Factories... given) : factories(std::move(given)...) {}
};

/// Tries every law on a hook, with faults, resumed and repeated trainings, and bad values.
///
///     law_report const report = check_laws([](output& out) { return my_hook{out.sink()}; },
///                                          {.values = {{"loss", {0.9, 0.5, 0.6}}}});
///     CHECK_MESSAGE(report.good(), report.text());
///
/// The training is a `scripted_session` in which every name has a value; hooks that need a graph get one by `training_of`.
/// Beside the hook stand two that fail where a law wants it, and one that watches and saves; the session has a clock.
///
/// @param factory makes a new hook in each call: `factory(output&)` or `factory()`; or `together(factories…)`
/// @param given values, exceptions with their reasons, and so on
/// **Errors** none but what the factory throws: failures are in the report.
/// **Cost** some hundred short trainings, a few milliseconds; six child processes for the bad values.
template <class Factory, class Make = detail::make_scripted_session, class... Items>
law_report check_laws(Factory factory, law_options const& given = {}, law_model<Make, Items...> model = {}) {
  detail::subject_of<law_model<Make, Items...>, Factory> const of(std::move(model), std::move(factory));
  return detail::try_laws(of, given);
}
template <class... Factories, class Make = detail::make_scripted_session, class... Items>
law_report check_laws(together<Factories...> factories, law_options const& given = {}, law_model<Make, Items...> model = {}) {
  return std::apply(
      [&](auto&... all) {
        detail::subject_of<law_model<Make, Items...>, Factories...> const of(std::move(model), std::move(all)...);
        return detail::try_laws(of, given);
      },
      factories.factories);
}

}  // namespace testing
TAUTLINE_END
