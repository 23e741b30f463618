// SPDX-License-Identifier: BSL-1.0
#include "training.hpp"

// Gates: hooks that look at a run before it changes anything.

namespace {

using namespace training;

/// Vetoes the runs of these steps.
auto veto_at(step_number first, step_number last = -1) {
  return [=](tautline::run_context_base& ctx, float) {
    if (ctx.step() >= first && ctx.step() <= (last < 0 ? first : last)) ctx.veto();
  };
}

TEST_CASE("a veto keeps the variables, and the run counts as a step all the same") {
  lines trace;
  auto session = monitored(summing(), gatekeeper{&trace, "a", veto_at(3)});
  (void)session.run_steps(4, target<"train">);
  CHECK(session.completed_steps() == 4);
  CHECK(session.raw()[fetch<"w">] == 0 + 1 + 3);  // the element of step 3 was taken, but not added
  session.close();
  CHECK(joined(trace) == joined({"created a at 0", "gate a step=1 loss=0 w=0", "after_run a step=1 loss=0 w=0",
                                 "gate a step=2 loss=1 w=0", "after_run a step=2 loss=1 w=1",
                                 "gate a step=3 loss=3 w=1", "after_run a step=3 loss=3 w=1 vetoed",
                                 "gate a step=4 loss=4 w=1", "after_run a step=4 loss=4 w=4", "end a", "close a"}));
}

TEST_CASE("all gates are asked, also behind a veto, and later ones see it") {
  lines trace;
  auto session = monitored(summing(), gatekeeper{&trace, "a", veto_at(2)}, named<"second">(gatekeeper{&trace, "b"}));
  (void)session.run_steps(2, target<"train">);
  lines const last(trace.end() - 4, trace.end());
  CHECK(joined(last) == joined({"gate a step=2 loss=1 w=0", "gate b step=2 loss=1 w=0 vetoed",
                                "after_run a step=2 loss=1 w=0 vetoed", "after_run b step=2 loss=1 w=0 vetoed"}));
}

TEST_CASE("values that an update would have given are not there after a veto") {
  lines trace;
  lines gates;
  auto session = monitored(summing(), gatekeeper{&gates, "a", veto_at(2)}, late_reader{&trace});
  auto const first = session.run(target<"train">, fetch<"late">, fetch<"loss">);
  CHECK(first.has(fetch<"late">));
  auto const second = session.run(target<"train">, fetch<"late">, fetch<"loss">, fetch<"train">);
  REQUIRE(second);
  CHECK_FALSE(second.has(fetch<"late">));
  CHECK_FALSE(second.has(fetch<"train">));
  CHECK(second.has(fetch<"loss">));
  CHECK(second[fetch<"loss">] == 1.0F);
  auto const third = session.run(target<"train">, fetch<"late">);
  CHECK(third.has(fetch<"late">));
  CHECK(third[fetch<"late">] == 4.0F);
  CHECK(joined(trace) == joined({"late step=1 0 0", "late step=2 nothing, vetoed", "late step=3 4 2"}));
}

TEST_CASE("the caller of steps() sees a veto, and a look behind a vetoed run is whole") {
  lines trace;
  auto session = monitored(summing(), gatekeeper{&trace, "a", veto_at(2)});
  std::string seen;
  for (auto const& step : session.steps(target<"train">, fetch<"loss">)) {
    seen += number(step.step()) + (step.vetoed() ? " vetoed " : " ");
    if (step.step() == 2) {
      auto const look = session.raw().run(target<"train">, fetch<"late">);  // no gate: a raw run
      CHECK(look.has(fetch<"late">));
      CHECK(look[fetch<"late">] == 4.0F);
    }
    if (step.step() == 3) break;
  }
  CHECK(seen == "1 2 vetoed 3 ");
}

TEST_CASE("an evaluation behind a vetoed run has all its values") {
  lines trace;
  auto session = monitored(summing(), gatekeeper{&trace, "a", veto_at(1)});
  (void)session.run(target<"train">);
  auto const look = session.evaluate(target<"train">, fetch<"late">);
  CHECK(look.has(fetch<"late">));
  CHECK(look[fetch<"late">] == 2.0F);
}

/// Asks, and so gates with values, in even steps only.
struct every_other {
  lines* trace;
  auto before_run(auto& ctx) { return ask_if(ctx.step() % 2 == 0, fetch<"loss">); }
  void gate(auto& ctx, auto& values) { trace->push_back("values " + number(ctx.step()) + " " + number(values[fetch<"loss">])); }
  void gate(auto& ctx) { trace->push_back("plain " + number(ctx.step())); }
};
/// Asks for nothing, and has a life behind the context.
struct plain_gate {
  lines* trace;
  void gate(auto& ctx, life& at) {
    trace->push_back("life " + number(at.step()) + (&at == static_cast<life*>(&ctx) ? " of the run" : ""));
    if (at.step() == 3) ctx.veto();
  }
};
/// Has a gate for the runs in which it asked, and none for the others.
struct gates_when_asked {
  lines* trace;
  auto before_run(auto& ctx) { return ask_if(ctx.step() == 2, fetch<"loss">); }
  void gate(auto& ctx, auto&) { trace->push_back("asked " + number(ctx.step())); }
};

TEST_CASE("a gate gets values in the runs for which it asked, and is called plainly in the others") {
  lines trace;
  auto session = monitored(summing(), every_other{&trace}, plain_gate{&trace}, gates_when_asked{&trace});
  (void)session.run_steps(3, target<"train">);
  CHECK(joined(trace) == joined({"plain 1", "life 1 of the run", "values 2 1", "life 2 of the run", "asked 2", "plain 3",
                                 "life 3 of the run"}));
  CHECK(session.raw()[fetch<"w">] == 1.0F);
}

TEST_CASE("runs that a gate's hook does not see are not vetoed by it") {
  lines trace;
  lines reader;
  auto session = monitored(summing(), gatekeeper{&trace, "a", veto_at(1, 9)}, named<"late">(late_reader{&reader}));
  (void)session.run(target<"train">);
  auto const alone = session.run_without_hooks(target<"train">, fetch<"late">);
  CHECK(alone.has(fetch<"late">));
  CHECK(session.raw()[fetch<"w">] == 1.0F);
  (void)session.run_with<"late">(target<"train">);
  CHECK(session.raw()[fetch<"w">] == 3.0F);
  (void)session.run_with<gatekeeper>(target<"train">);
  CHECK(session.raw()[fetch<"w">] == 3.0F);
  (void)session.evaluate(target<"train">);
  CHECK(session.raw()[fetch<"w">] == 7.0F);
  CHECK(session.completed_steps() == 4);
  CHECK(joined(reader) == joined({"late step=1 nothing, vetoed", "late step=3 6 3"}));
  CHECK(trace.size() == 1 + 2 * 2);
}

TEST_CASE("a vetoed run of the step target is a step; one without the target stays none") {
  lines trace;
  auto session = monitored(summing().step_target<"train">(), gatekeeper{&trace, "a", veto_at(1, 9)});
  (void)session.run(target<"train">);
  CHECK(session.completed_steps() == 1);
  (void)session.run(fetch<"loss">);
  CHECK(session.completed_steps() == 1);
  (void)session.run(target<"train">, fetch<"train">);
  CHECK(session.completed_steps() == 2);
  CHECK(session.raw()[fetch<"w">] == 0.0F);
}

TEST_CASE("a staged run that meets the end of the input asks no gate") {
  lines trace;
  auto session = monitored(summing(2), gatekeeper{&trace, "a"});
  (void)session.run_to_completion(target<"train">);
  CHECK(session.stop().source == tautline::stop_source::end_of_input);
  CHECK(session.stop().step == 3);
  CHECK(session.completed_steps() == 2);
  session.close();
  CHECK(joined(trace) == joined({"created a at 0", "gate a step=1 loss=0 w=0", "after_run a step=1 loss=0 w=0",
                                 "gate a step=2 loss=1 w=0", "after_run a step=2 loss=1 w=1", "end a", "close a"}));
}

TEST_CASE("a gate that asks for a stop lets the run be finished") {
  lines trace;
  auto session = monitored(summing(), gatekeeper{&trace, "a", [](tautline::run_context_base& ctx, float) {
                                                   if (ctx.step() == 2) ctx.request_stop("enough");
                                                 }});
  (void)session.run_to_completion(target<"train">);
  CHECK(session.completed_steps() == 2);
  CHECK(session.raw()[fetch<"w">] == 1.0F);
  CHECK(session.stop().step == 2);
  CHECK(std::string(session.stop().by) == "training::gatekeeper");
}

TEST_CASE("a gate that fails ends the training before anything is changed") {
  lines trace;
  auto session = monitored(summing(),
                           gatekeeper{&trace, "a", [](tautline::run_context_base& ctx, float loss) {
                                        if (ctx.step() == 3) ctx.fail(error_kind::nan, {"loss {}", loss});
                                      }},
                           named<"second">(gatekeeper{&trace, "b"}));
  auto const done = session.try_run_to_completion(target<"train">);
  CHECK(done.error == error_kind::nan);
  CHECK(session.completed_steps() == 2);
  CHECK(session.raw()[fetch<"w">] == 1.0F);
  CHECK(session.status().where == callback::gate);
  CHECK(session.status().step == 3);
  CHECK(written(session.status()) == "loss 3 (nan, hook training::gatekeeper, gate, step 3)");
  lines const last(trace.end() - 5, trace.end());
  CHECK(joined(last) ==
        joined({"gate a step=3 loss=3 w=1", "on_error a nan", "on_error b nan", "close a", "close b"}));
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("an exception in a gate is an error of its hook, whatever its kind") {
  lines trace;
  auto session = monitored(summing(), gatekeeper{&trace, "a", [](tautline::run_context_base&, float) {
                                                   throw tautline::aborted_error("from a gate");
                                                 }});
  CHECK_THROWS_AS((void)session.run(target<"train">), tautline::aborted_error);
  CHECK_FALSE(session.is_open());
  CHECK(session.status().where == callback::gate);
  CHECK(std::string(session.status().hook) == "training::gatekeeper");
  CHECK(joined(trace) == joined({"created a at 0", "gate a step=1 loss=0 w=0", "on_error a aborted", "close a"}));
}

TEST_CASE("the same exception in the second part of a run is the session's") {
  int runs = 0;
  auto graph = tautline::static_graph{}
                   .variable<"w">(0.0F)
                   .op<"loss", "w">([](float w) { return w; })
                   .update<"train", "w">([&runs](float& w) {
                     if (++runs == 2) throw tautline::aborted_error("from the update");
                     w += 1;
                   });
  lines trace;
  auto session = monitored(std::move(graph), gatekeeper{&trace, "a"});
  (void)session.run_steps(2, target<"train">);
  CHECK(session.completed_steps() == 2);
  CHECK(joined(trace) == joined({"created a at 0", "gate a step=1 loss=0 w=0", "after_run a step=1 loss=0 w=1",
                                 "gate a step=2 loss=1 w=1", "on_error a aborted", "created a at 1",
                                 "gate a step=2 loss=1 w=1", "after_run a step=2 loss=1 w=2"}));
}
#endif

/// Vetoes and goes back where it is too late, or too early.
struct out_of_place {
  static constexpr bool stateless = true;
  callback where;
  bool back;
  void before_run(auto& ctx) { act(callback::before_run, ctx); }
  void after_run(auto& ctx) { act(callback::after_run, ctx); }
  void act(callback here, auto& ctx) const {
    if (here != where) return;
    if constexpr (std::remove_cvref_t<decltype(ctx)>::has_restorer) {
      if (back) return ctx.roll_back("a spike");
    }
    ctx.veto();
  }
};
TEST_CASE("a veto or a going back elsewhere than in a gate is an error") {
  for (callback const where : {callback::before_run, callback::after_run}) {
    for (bool const back : {false, true}) {
      memory_store store;
      auto session = monitored(summing(), options{restore_from{store}}, out_of_place{where, back});
      CHECK(session.try_run(target<"train">).error() == error_kind::invalid_argument);
      CHECK(session.status().where == where);
      CHECK(written(session.status()).find(back ? "roll_back()" : "veto()") == 0);
      CHECK(store.restores == 1);
      CHECK_FALSE(session.is_open());
    }
  }
}

// --- feeds --------------------------------------------------------------------------------------------------------------

/// What the graph has for `rate` when nobody feeds it.
template <class Session>
float rate_now(Session& session) {
  return session.raw()[fetch<"rate">];
}

TEST_CASE("what was fed is forgotten on every way out of a run with a gate") {
  lines trace;
  SUBCASE("vetoed") {
    auto session = monitored(summing(), gatekeeper{&trace, "a", veto_at(1)});
    (void)session.run(target<"train">, tautline::feed<"rate">(5.0F));
    CHECK(rate_now(session) == 1.0F);
  }
  SUBCASE("not vetoed, and the update gets it in the second part") {
    auto session = monitored(summing(), gatekeeper{&trace, "a"});
    (void)session.run_steps(2, target<"train">, tautline::feed<"rate">(5.0F));
    CHECK(session.raw()[fetch<"w">] == 5.0F);
    CHECK(rate_now(session) == 1.0F);
  }
  SUBCASE("the end of the input") {
    auto session = monitored(summing(0), gatekeeper{&trace, "a"});
    CHECK(session.run(target<"train">, tautline::feed<"rate">(5.0F)).end_of_input());
    CHECK(rate_now(session) == 1.0F);
  }
  SUBCASE("a gate that fails") {
    auto session = monitored(summing(), gatekeeper{&trace, "a", [](tautline::run_context_base& ctx, float) {
                                                     ctx.fail(error_kind::nan, "no");
                                                   }});
    CHECK(session.try_run(target<"train">, tautline::feed<"rate">(5.0F)).error() == error_kind::nan);
    CHECK(rate_now(session) == 1.0F);
  }
}

#if TAUTLINE_EXCEPTIONS
/// Writes down the rate as it stands before a run.
struct sees_rate {
  std::string* seen;
  void before_run(auto& ctx) { *seen += number(ctx.session()[fetch<"rate">]) + " "; }
  void gate(auto&) {}
};
TEST_CASE("what was fed is forgotten before the run is repeated, whichever part of it failed") {
  for (int const failing : {1, 2}) {
    int runs = 0;
    auto const fails = [&runs, failing](int part) {
      if (part == failing && ++runs == 2) throw tautline::aborted_error("once");
    };
    auto graph = tautline::static_graph{}
                     .variable<"w">(0.0F)
                     .placeholder<"rate">(1.0F)
                     .op<"loss", "w">([fails](float w) { return fails(1), w; })
                     .update<"train", "w", "loss", "rate">([fails](float& w, float, float rate) { fails(2), w += rate; });
    std::string seen;
    auto session = monitored(std::move(graph), sees_rate{&seen});
    (void)session.run_steps(1, target<"train">, tautline::feed<"rate">(5.0F));
    (void)session.run(target<"train">, tautline::feed<"rate">(5.0F));
    CHECK(session.raw()[fetch<"w">] == 10.0F);
    CHECK(seen == "1 1 1 ");
  }
}
#endif

// --- a backend of another kind --------------------------------------------------------------------------------------------

/// Stages as it is told to.
struct staging_backend {
  lines* trace;
  tautline::status staged = {};
  tautline::status committed = {};
  float result = 0.5F;

  tautline::status run(auto const&) {
    trace->push_back("run");
    return {};
  }
  tautline::status stage(auto const&) {
    trace->push_back("stage");
    return std::exchange(staged, {});
  }
  tautline::status commit(auto const&) {
    trace->push_back("commit");
    return std::exchange(committed, {});
  }
  template <class Request, tautline::fixed_string Name>
  static consteval bool is_late() {
    return Name == tautline::fixed_string{"late"};
  }
  template <tautline::fixed_string Name>
  [[nodiscard]] float const& value() const {
    return result;
  }
};
struct calls_veto {
  lines* trace;
  bool vetoes = false;
  auto before_run(auto&) { return fetch<"loss">; }
  void gate(auto& ctx, auto& values) {
    trace->push_back("gate " + number(values[fetch<"loss">]) + (ctx.has_gate ? "" : "?"));
    if (vetoes) ctx.veto();
  }
  void after_run(auto&, auto&) { trace->push_back("after_run"); }
  void on_error(tautline::error const& happened) { trace->push_back(std::string("on_error ") + to_string(happened.where)); }
};

TEST_CASE("a backend's run is staged, gated and committed, and each part may be recovered") {
  lines trace;
  SUBCASE("committed") {
    auto session = monitored(staging_backend{&trace}, calls_veto{&trace});
    (void)session.run();
    CHECK(joined(trace) == joined({"stage", "gate 0.5", "commit", "after_run"}));
  }
  SUBCASE("vetoed") {
    auto session = monitored(staging_backend{&trace}, calls_veto{&trace, true});
    (void)session.run();
    CHECK(joined(trace) == joined({"stage", "gate 0.5", "after_run"}));
  }
  SUBCASE("not seen by a hook with a gate") {
    auto session = monitored(staging_backend{&trace}, calls_veto{&trace, true});
    (void)session.run_without_hooks();
    CHECK(joined(trace) == joined({"run"}));
  }
  SUBCASE("the first part is aborted") {
    auto session = monitored(staging_backend{&trace, {error_kind::aborted, "x"}}, calls_veto{&trace});
    (void)session.run();
    CHECK(joined(trace) == joined({"stage", "on_error run", "stage", "gate 0.5", "commit", "after_run"}));
  }
  SUBCASE("the second part is aborted") {
    auto session = monitored(staging_backend{&trace, {}, {error_kind::aborted, "x"}}, calls_veto{&trace});
    (void)session.run();
    CHECK(joined(trace) ==
          joined({"stage", "gate 0.5", "commit", "on_error run", "stage", "gate 0.5", "commit", "after_run"}));
  }
}

struct unstaged_backend {
  lines* trace;
  float result = 0.5F;
  tautline::status run(auto const&) {
    trace->push_back("run");
    return {};
  }
  template <tautline::fixed_string Name>
  [[nodiscard]] float const& value() const {
    return result;
  }
};
struct gates_if_it_can {
  lines* trace;
  auto before_run(auto&) { return fetch<"loss">; }
  void gate(auto&, auto&) { trace->push_back("gate"); }
  void after_run(auto& ctx, auto&) { trace->push_back(ctx.has_gate ? "has gate" : "has no gate"); }
};

TEST_CASE("where a backend cannot stage a run no gate is called, and the context says so") {
  lines trace;
  auto session = monitored(unstaged_backend{&trace}, gates_if_it_can{&trace});
  (void)session.run();
  CHECK(joined(trace) == joined({"run", "has no gate"}));
}

}  // namespace
