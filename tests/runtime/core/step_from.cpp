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

/// Counts by a value or not, as it is told at run time.
struct either {
  static constexpr auto step_name = fixed_string{"global_step"};
  every_steps inner{10};
  bool by_value = false;
  using memory = every_steps::memory;
  [[nodiscard]] bool wants_value() const { return by_value; }
  void restart(memory& kept, trigger_view const& view) const { inner.restart(kept, view); }
  [[nodiscard]] bool due(memory const& kept, trigger_view const& view) const { return inner.due(kept, view); }
  void looked(memory& kept, trigger_view const& view, bool due, bool acted) const { inner.looked(kept, view, due, acted); }
};
struct recorder_of_either {
  either trigger;
  std::vector<step_number>* runs;
  void after_run(auto& ctx) {
    if (ctx.due()) runs->push_back(ctx.step());
  }
};

TEST_CASE("a trigger may know at run time only whether it counts by a value") {
  for (bool const by_value : {false, true}) {
    std::vector<step_number> runs;
    auto session = monitored(counting_graph(0, 4), recorder_of_either{.trigger = {.by_value = by_value}, .runs = &runs});
    (void)session.run_steps(10, target<"train">);
    CHECK(runs == (by_value ? std::vector<step_number>{4, 6, 9} : std::vector<step_number>{10}));
  }
}

/// A session whose values can be read only when it has been made whole, as those of variables that are initialised late.
template <class Session>
struct late_session : Session {
  bool* too_early;
  bool is_ready = false;
  late_session(Session&& session, bool* early) : Session(std::move(session)), too_early(early) {}
  status finish_open(bool) {
    is_ready = true;
    return {};
  }
  template <fixed_string Name, class Type>
  long stored() {
    if (!is_ready) *too_early = true;
    return is_ready ? this->template value<Name>() : 0;
  }
};
struct late_graph {
  decltype(counting_graph(0, 0)) graph = counting_graph(28, 1);
  bool* too_early;
  auto finalize() && {
    auto session = std::move(graph).finalize();
    return late_session<decltype(session)>(std::move(session), too_early);
  }
};
struct nothing_saved {
  static restored restore(training_state const&) { return {}; }
};
struct stateless_recorder : recorder_of_due {
  static constexpr bool stateless = true;
};

TEST_CASE("the value is not asked for before the session has been made whole") {
  bool too_early = false;
  std::vector<step_number> runs;
  nothing_saved nothing;
  auto session = monitored(late_graph{.too_early = &too_early}, options{restore_from{nothing}}, stateless_recorder{{.runs = &runs}});
  (void)session.run_steps(13, target<"train">);
  CHECK_FALSE(too_early);
  CHECK(runs == std::vector<step_number>{2, 12});
}

}  // namespace
