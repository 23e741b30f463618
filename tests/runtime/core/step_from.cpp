// SPDX-License-Identifier: BSL-1.0
// Triggers that look at a value of the session instead of the completed steps.

#include <doctest/doctest.h>

#include <vector>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

namespace {

using namespace tautline;

/// Notes the steps at which it is due, by the session's own count and by the value.
struct recorder_of_due {
  detail::step_from_trigger<"global_step", every_steps> trigger = step_from<"global_step">(every_steps{10});
  std::vector<step_number>* runs;
  void after_run(auto& ctx) {
    if (ctx.due()) runs->push_back(ctx.step());
  }
};

auto counting_graph(long first, long stride) {
  return static_graph{}
      .variable<"global_step">(first)
      .update<"train", "global_step">([stride](long& step) { step += stride; });
}

TEST_CASE("a trigger that counts by a value fires where the value crosses its period") {
  std::vector<step_number> runs;
  auto session = monitored(counting_graph(0, 4), recorder_of_due{.runs = &runs});
  (void)session.run_steps(10, target<"train">);
  // the value before a run plus one: 1, 5, 9, 13, ...: it is at 12 after the third run, seen to reach 10 in the fourth
  CHECK(runs == std::vector<step_number>{4, 6, 9});
}

TEST_CASE("a trigger that counts by a value goes on from where the value stands") {
  std::vector<step_number> runs;
  auto session = monitored(counting_graph(28, 1), recorder_of_due{.runs = &runs});
  (void)session.run_steps(13, target<"train">);
  CHECK(runs == std::vector<step_number>{2, 12});
}

TEST_CASE("a value that stands still fires no trigger") {
  std::vector<step_number> runs;
  auto session = monitored(counting_graph(0, 1), recorder_of_due{.runs = &runs});
  (void)session.run_steps(30);  // without the target the value does not move
  CHECK(runs.empty());
}

}  // namespace
