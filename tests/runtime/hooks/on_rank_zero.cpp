// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <stdexcept>

#include <tautline/hooks/on_rank_zero.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "support.hpp"

using namespace support;
using tautline::at_end;
using tautline::every_steps;
using tautline::monitored;
using tautline::moment;
using tautline::on_rank_zero;
using tautline::static_graph;

namespace {

/// A hook with a trigger, state and everything that can be declared.
struct report {
  using runs_after = tautline::hooks<probe>;
  using category = tautline::check;
  using asks = tautline::fetches<"loss">;
  every_steps trigger{2};
  lines* said;
  int seen = 0;
  auto state() { return tautline::fields{tautline::field<"seen">(seen)}; }
  auto before_run(auto& ctx) const { return tautline::ask_if(ctx.due(), fetch<"loss">); }
  void after_run(auto& ctx, auto const& values) {
    ++seen;
    said->push_back(number(ctx.step()) + " " + number(values[fetch<"loss">]));
  }
  void after_run(auto& ctx) const { said->push_back(number(ctx.step())); }
};
/// One that adds to the graph: the graph's type is the same on all ranks.
struct doubler {
  auto begin(auto graph) { return std::move(graph).template op<"twice", "w">([](float w) { return 2 * w; }); }
  auto before_run(auto&) const { return fetch<"twice">; }
  void after_run(auto&, auto const& values) { sum += values[fetch<"twice">]; }
  float sum = 0;
};
struct watcher {
  static constexpr bool stateless = true;
  int* entered;
  void on_enter(moment const&) noexcept { ++*entered; }
  void on_leave(moment const&) noexcept {}
};
struct toy_saver {
  using category = tautline::saver;
  static constexpr bool stateless = true;
  lines* said;
  bool wants_save() const { return true; }
  void save(tautline::training_state const& state, life&) const { said->push_back("saved " + number(state.step())); }
};
struct before_all {
  using runs_before = tautline::hooks<report>;
  lines* said;
  void after_run(auto&) const { said->push_back("before"); }
};

lines played_by(int rank, std::function<void(callback, life&)> act = {}) {
  world of;
  {
    auto session = monitored(backend(of), on_rank_zero{rank, probe{&of, "in", std::move(act)}});
    (void)session.run_steps(1);
  }
  return of.trace;
}

auto toy_graph() {
  return static_graph{}.variable<"w">(1.0F).update<"train", "w">([](float& w) { w += 1; });
}

}  // namespace

TEST_CASE("on rank 0 all callbacks, on the others none, and nothing is asked") {
  CHECK(played_by(0) == lines{"begin in", "session 1", "after_create_session in", "before_run in step=1", "run 1",
                              "after_run in step=1 loss=0.5", "end in", "close in", "session_closed 1"});
  CHECK(played_by(1) == lines{"session 1", "run 1", "session_closed 1"});
}

TEST_CASE("errors are told on rank 0") {
  for (int const rank : {0, 3}) {
    world of;
    of.in_run = broken_in(2);
    auto session = monitored(backend(of), on_rank_zero{rank, probe{.of = &of, .id = "in"}});
    (void)session.run_steps(2);
    CHECK(count(of.trace, "on_error in aborted") == (rank == 0 ? 1 : 0));
    CHECK(count(of.trace, "after_create_session in") == (rank == 0 ? 2 : 0));
  }
}

TEST_CASE("trigger, state, relations and what it asks for are those of the hook inside") {
  lines said;
  world of;
  auto session = monitored(scripted(of, [](long run) { return static_cast<double>(run); }),
                           on_rank_zero{0, report{.said = &said}}, before_all{&said});
  (void)session.run_steps(2);
  CHECK(said == lines{"before", "1", "before", "2 2"});
  CHECK(count(of.trace, "run 1 loss") == 0);
  using wrapped = on_rank_zero<report>;
  CHECK(session.hook<wrapped>().seen == 1);
  static_assert(tautline::lists_state<wrapped> && !tautline::stateless<wrapped>);
  static_assert(std::is_same_v<wrapped::category, tautline::check> && std::is_same_v<wrapped::tags, tautline::hooks<report>>);
}

TEST_CASE("a begin that returns a graph is called on every rank") {
  for (int const rank : {0, 1}) {
    auto session = monitored(toy_graph(), tautline::stop_at_step{3}, on_rank_zero{rank, doubler{}});
    (void)session.run_to_completion(target<"train">);
    CHECK(session.hook<on_rank_zero<doubler>>().sum == (rank == 0 ? 18.0F : 0.0F));
    CHECK(session.evaluate(fetch<"twice">)[fetch<"twice">] == 8.0F);
  }
}

TEST_CASE("a watching hook watches, and a saver saves, on rank 0 only") {
  for (int const rank : {0, 1}) {
    world of;
    lines said;
    int entered = 0;
    auto session = monitored(backend(of), on_rank_zero{rank, watcher{&entered}}, on_rank_zero{rank, toy_saver{&said}});
    (void)session.run_steps(1);
    CHECK((entered > 0) == (rank == 0));
    CHECK(said == (rank == 0 ? lines{"saved 1"} : lines{}));
  }
}

TEST_CASE("a stop on rank 0 is recorded in its name") {
  world of;
  auto session = monitored(backend(of), on_rank_zero{0, tautline::stop_at_step{2}});
  (void)session.run_steps(5);
  CHECK(contains(described(session.stop()), "stop by on_rank_zero<"));
  CHECK(session.completed_steps() == 2);
  world other;
  auto second = monitored(backend(other), on_rank_zero{1, tautline::stop_at_step{2}});
  (void)second.run_steps(5);
  CHECK(second.completed_steps() == 5);
}

TEST_CASE("real time: as quiet as the hook inside") {
  world of;
  auto session = monitored(toy_graph(), tautline::options{tautline::real_time{}}, on_rank_zero{0, tautline::stop_at_step{2}});
  (void)session.run_to_completion(target<"train">);
  CHECK(session.completed_steps() == 2);
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("an exception in each callback of rank 0 is that hook's; on other ranks there is none") {
  for (callback const where : {callback::begin, callback::after_create_session, callback::before_run, callback::after_run,
                               callback::end, callback::close}) {
    CAPTURE(to_string(where));
    auto const play = [&](int rank) {
      world of;
      return outcome_of([&] {
        auto session = monitored(backend(of), on_rank_zero{rank, probe{&of, "in", [&](callback at, life&) {
                                                                         if (at == where) throw std::domain_error("bad");
                                                                       }}});
        (void)session.run_steps(1);
        session.close();
      });
    };
    CHECK(play(0) == "threw bad");
    CHECK(play(1) == "returned");
  }
}
#endif
