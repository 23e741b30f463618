// SPDX-License-Identifier: BSL-1.0
#include <stdexcept>

#include <tautline/hooks/any_trigger.hpp>

#include "training.hpp"

// Sessions that begin from what was saved: resumed, recovered, or taken back by a gate.

namespace {

using namespace training;
using tautline::every_steps;

/// Remembers what it has seen, and says when it is restored.
struct remembering {
  lines* trace;
  int seen = 0;
  int kept = 0;
  auto state() { return fields{field<"seen">(seen), kept_field<"kept">(kept)}; }

  void begin(auto&) { seen = kept = 0; }
  void after_restore() { trace->push_back("restored with " + number(step_number{seen}) + " and " + number(step_number{kept})); }
  void after_create_session(auto& session) { trace->push_back("created at " + number(session.step())); }
  void after_run(auto& ctx) {
    ++seen, ++kept;
    trace->push_back("step " + number(ctx.step()));
  }
};
/// The same, with a life.
struct restored_with_life {
  static constexpr bool stateless = true;
  lines* trace;
  error_kind fails = error_kind::none;
  void after_restore(life& at) {
    trace->push_back("restored at " + number(at.step()));
    if (fails != error_kind::none) at.fail(fails, "this state is of no use");
  }
  void on_error(tautline::error const& happened) { trace->push_back("on_error " + written(happened)); }
  void close() { trace->push_back("close"); }
};

TEST_CASE("a session with an empty store begins as one without") {
  lines trace;
  memory_store store;
  auto session = monitored(summing(), options{restore_from{store}}, remembering{&trace});
  (void)session.run_steps(2, target<"train">);
  CHECK(store.restores == 1);
  CHECK(joined(trace) == joined({"created at 0", "step 1", "step 2"}));
}

TEST_CASE("a resumed training goes on from the saved step with variables, input and hooks as they were") {
  lines trace;
  memory_store store;
  {
    auto session = monitored(summing(), options{restore_from{store}}, remembering{&trace}, memory_saver{&store, every_steps{3}});
    (void)session.run_steps(4, target<"train">);
  }
  CHECK(store.step == 3);
  CHECK(store.get<float>("variable/w") == 0 + 1 + 2);
  CHECK(store.get<int>("input/x/position") == 3);
  CHECK(store.get<int>("hook/" + std::string(tautline::detail::type_name<remembering>) + "/seen") == 3);
  trace.clear();
  auto session = monitored(summing(), options{restore_from{store}}, remembering{&trace}, memory_saver{&store, every_steps{3}},
                           restored_with_life{&trace});
  CHECK(session.completed_steps() == 3);
  (void)session.run_steps(3, target<"train">);
  CHECK(session.raw()[fetch<"w">] == 0 + 1 + 2 + 3 + 4 + 5);
  CHECK(session.hook<remembering>().seen == 6);
  CHECK(session.hook<remembering>().kept == 6);
  CHECK(store.step == 6);
  session.close();
  CHECK(joined(trace) == joined({"restored with 3 and 3", "restored at 3", "created at 3", "step 4", "step 5", "step 6", "close"}));
}

TEST_CASE("the step that a store has counts more than the option initial_step") {
  lines trace;
  memory_store store;
  {
    auto session = monitored(summing(), options{restore_from{store}, tautline::initial_step{10}}, remembering{&trace},
                             memory_saver{&store, every_steps{4}});
    (void)session.run_steps(3, target<"train">);  // up to step 13
  }
  CHECK(store.step == 12);
  auto session = monitored(summing(), options{restore_from{store}, tautline::initial_step{100}}, remembering{&trace});
  CHECK(session.completed_steps() == 12);
}

// --- triggers over a resume ---------------------------------------------------------------------------------------------

template <class Trigger>
struct showing {
  static constexpr bool stateless = true;
  std::string* shown;
  Trigger trigger;
  void after_run(auto& ctx) {
    if (ctx.due()) *shown += number(ctx.step()) + " ";
  }
  void end(auto&, life& at) {
    if (at.due()) *shown += "end ";
  }
};
template <class Trigger>
showing(std::string*, Trigger) -> showing<Trigger>;

/// Where a hook with this trigger acts in three steps, and behind a resume in three more.
template <class Trigger>
std::string over_a_resume(Trigger trigger) {
  memory_store store;
  std::string shown;
  {
    auto session = monitored(summing(), options{restore_from{store}}, showing{&shown, trigger}, memory_saver{&store, every_steps{3}});
    (void)session.run_steps(3, target<"train">);
    session.abandon();
  }
  CHECK(store.step == 3);
  shown += "| ";
  auto session = monitored(summing(), options{restore_from{store}}, showing{&shown, trigger});
  (void)session.run_steps(3, target<"train">);
  session.close();
  return shown;
}

TEST_CASE("triggers go on behind a resume as if nothing had happened") {
  using tautline::any_trigger;
  using tautline::at_end;
  using tautline::at_steps;
  using tautline::never;
  using tautline::once;
  every_steps const even{2};
  every_steps const first_too{.period = 5, .also_first = true};
  CHECK(over_a_resume(even) == "2 | 4 6 ");
  CHECK(over_a_resume(once) == "1 | ");
  CHECK(over_a_resume(first_too) == "1 | 5 ");
  CHECK(over_a_resume(at_steps{1, 4}) == "1 | 4 ");
  CHECK(over_a_resume(never | at_end) == "| end ");
  CHECK(over_a_resume(once | at_steps{5}) == "1 | 5 ");
  CHECK(over_a_resume(at_steps{5} | once) == "1 | 5 ");
  CHECK(over_a_resume(first_too | once) == "1 | 5 ");
  CHECK(over_a_resume((once | even) | first_too) == "1 2 | 4 5 6 ");
  CHECK(over_a_resume(any_trigger(even)) == "2 | 4 6 ");
  CHECK(over_a_resume(any_trigger(once)) == "1 | ");
  CHECK(over_a_resume(any_trigger(first_too)) == "1 | 5 ");
  CHECK(over_a_resume(any_trigger(first_too | at_end)) == "1 | 5 end ");
  CHECK(over_a_resume(any_trigger((once | even) | at_steps{5})) == "1 2 | 4 5 6 ");
  CHECK(over_a_resume(tautline::step_from<"w">(every_steps{.period = 100, .also_first = true})) == "1 | ");
}

TEST_CASE("a trigger that has not fired yet fires behind a resume") {
  // the hook sees no run before it is saved
  memory_store store;
  std::string shown;
  {
    auto session = monitored(summing(), options{restore_from{store}}, showing{&shown, tautline::once},
                             named<"saver">(memory_saver{&store, every_steps{2}}));
    (void)session.run_with<"saver">(target<"train">);
    (void)session.run_with<"saver">(target<"train">);
    session.abandon();
  }
  REQUIRE(store.step == 2);
  auto session = monitored(summing(), options{restore_from{store}}, showing{&shown, tautline::once});
  (void)session.run_steps(2, target<"train">);
  CHECK(shown == "3 ");
}

TEST_CASE("a trigger that counts by a variable goes on from that variable's restored value") {
  memory_store store;
  std::string shown;
  auto const graph = [] {
    return tautline::static_graph{}.variable<"global">(step_number{0}).update<"train", "global">([](step_number& global) {
      global += 3;
    });
  };
  auto const trigger = tautline::step_from<"global">(every_steps{10});
  {
    auto session = monitored(graph(), options{restore_from{store}}, showing{&shown, trigger}, memory_saver{&store, every_steps{5}});
    (void)session.run_steps(5, target<"train">);  // the variable comes to 15
    session.abandon();
  }
  shown += "| ";
  auto session = monitored(graph(), options{restore_from{store}}, showing{&shown, trigger});
  (void)session.run_steps(5, target<"train">);
  CHECK(session.raw()[fetch<"global">] == 30);
  // before a run: the value as it stands plus the run's one step
  auto without = std::string{};
  {
    auto whole = monitored(graph(), showing{&without, trigger});
    (void)whole.run_steps(10, target<"train">);
  }
  CHECK(shown == without.substr(0, 2) + "| " + without.substr(2));
}

// --- recoveries ---------------------------------------------------------------------------------------------------------

/// A graph behind a connection that breaks: everything else is `Inner`'s.
template <class Inner>
struct unreliable : Inner {
  int* run_number;
  int breaks_in;
  unreliable(Inner&& inner, int* count, int in) : Inner(static_cast<Inner&&>(inner)), run_number(count), breaks_in(in) {}
  template <class Request>
  tautline::status run(Request const& request) {
    if (++*run_number == breaks_in) return {error_kind::aborted, "the connection broke"};
    return Inner::run(request);
  }
};
template <class Graph>
auto unreliably(Graph graph, int* count, int in) {
  using inner = decltype(static_cast<Graph&&>(graph).finalize());
  return unreliable<inner>(static_cast<Graph&&>(graph).finalize(), count, in);
}

TEST_CASE("a recovery goes back to what was saved, but for what is kept") {
  lines trace;
  memory_store store;
  std::string shown;
  int runs = 0;
  auto session = monitored(unreliably(summing(), &runs, 6), options{restore_from{store}}, remembering{&trace},
                           showing{&shown, every_steps{2}}, named<"once">(showing{&shown, tautline::once}),
                           memory_saver{&store, every_steps{3}});
  (void)session.run_steps(7, target<"train">);
  CHECK(session.completed_steps() == 5);  // five runs, then two that are repeated
  CHECK(session.raw()[fetch<"w">] == 0 + 1 + 2 + 3 + 4);
  CHECK(session.hook<remembering>().seen == 5);
  CHECK(session.hook<remembering>().kept == 7);
  CHECK(shown == "1 2 4 4 ");
  CHECK(joined(trace) == joined({"created at 0", "step 1", "step 2", "step 3", "step 4", "step 5", "restored with 3 and 5",
                                 "created at 3", "step 4", "step 5"}));
}

TEST_CASE("a recovery before anything was saved goes on with what is there") {
  lines trace;
  memory_store store;
  int runs = 0;
  auto session = monitored(unreliably(summing(), &runs, 3), options{restore_from{store}}, remembering{&trace});
  (void)session.run_steps(3, target<"train">);
  CHECK(store.restores == 2);
  CHECK(session.completed_steps() == 3);
  CHECK(session.raw()[fetch<"w">] == 3.0F);
  CHECK(joined(trace) == joined({"created at 0", "step 1", "step 2", "created at 2", "step 3"}));
}

// --- a restorer that fails ----------------------------------------------------------------------------------------------

TEST_CASE("a restorer that fails ends the making of the session, with its error") {
  lines trace;
  memory_store store;
  store.in_restore = [](int) { return tautline::status{error_kind::invalid_argument, "this checkpoint is of another graph"}; };
  auto session = tautline::try_monitored(summing(), options{restore_from{store}}, restored_with_life{&trace});
  CHECK_FALSE(session.is_open());
  CHECK(session.status().kind == error_kind::invalid_argument);
  CHECK(session.status().where == callback::create_session);
  CHECK(store.restores == 1);
  CHECK(joined(trace) ==
        joined({"on_error this checkpoint is of another graph (invalid_argument, create_session)", "close"}));
}

TEST_CASE("a store that is out of reach for a while is asked again") {
  memory_store store;
  store.step = 7, store.has = true;
  store.in_restore = [](int restore) {
    return restore < 3 ? tautline::status{error_kind::unavailable, "the store starts"} : tautline::status{};
  };
  auto session = monitored(summing(), options{restore_from{store}});
  CHECK(store.restores == 3);
  CHECK(session.completed_steps() == 7);
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("a restorer may throw") {
  memory_store store;
  store.in_restore = [](int) -> tautline::status { throw std::runtime_error("no such folder"); };
  CHECK(outcome_of([&] { auto session = monitored(summing(), options{restore_from{store}}); }) == "threw no such folder");
  CHECK(store.restores == 1);
}
#endif

TEST_CASE("a hook that fails in after_restore ends it, whatever the kind") {
  for (error_kind const kind : {error_kind::invalid_argument, error_kind::aborted}) {
    lines trace;
    memory_store store;
    store.step = 4, store.has = true;
    auto session = tautline::try_monitored(summing(), options{restore_from{store}}, restored_with_life{&trace, kind});
    CHECK_FALSE(session.is_open());
    CHECK(session.status().kind == kind);
    CHECK(store.restores == 1);  // an error of a hook is not recovered
    CHECK(trace.size() == 3);
    CHECK(trace.back() == "close");
  }
}

// --- going back ---------------------------------------------------------------------------------------------------------

/// Goes back in `step`, at most `most` times.
struct roller {
  lines* trace;
  step_number step = 6;
  int most = 1;
  bool fails_then = false;
  int times = 0;
  auto state() { return fields{kept_field<"times">(times)}; }

  auto before_run(auto&) { return fetch<"loss">; }
  void gate(auto& ctx, auto&) {
    if constexpr (std::remove_cvref_t<decltype(ctx)>::has_restorer) {
      if (ctx.step() != step) return;
      if (times == most && fails_then) ctx.fail(error_kind::nan, "too often");
      if (times == most) return;
      ++times;
      ctx.roll_back("a spike");
    }
  }
  void on_error(tautline::error const& happened) { trace->push_back("on_error " + written(happened)); }
  void end(auto&) { trace->push_back("end"); }
  void close() { trace->push_back("close"); }
};

TEST_CASE("a gate takes variables, input, hooks and triggers back to the latest checkpoint") {
  lines trace;
  memory_store store;
  std::string shown;
  auto session = monitored(summing(), options{restore_from{store}}, remembering{&trace}, roller{&trace},
                           showing{&shown, every_steps{2}}, named<"once">(showing{&shown, tautline::once}),
                           memory_saver{&store, every_steps{3}});
  (void)session.run_steps(5, target<"train">);
  auto const result = session.run(target<"train">, fetch<"loss">);  // is taken back, and then makes step 4
  REQUIRE(result);
  CHECK(result[fetch<"loss">] == 0 + 1 + 2 + 3);
  CHECK(session.completed_steps() == 4);
  CHECK(session.raw()[fetch<"w">] == 0 + 1 + 2 + 3);
  CHECK(session.hook<remembering>().seen == 4);
  CHECK(session.hook<remembering>().kept == 6);
  CHECK(session.hook<roller>().times == 1);
  CHECK(shown == "1 2 4 4 ");
  CHECK(session.status().kind == error_kind::none);
  CHECK(session.attached_errors().count() == 0);
  CHECK(joined(trace) ==
        joined({"created at 0", "step 1", "step 2", "step 3", "step 4", "step 5",
                "on_error a spike (nan, hook " + std::string(tautline::detail::type_name<roller>) + ", gate, step 6)",
                "restored with 3 and 5", "created at 3", "step 4"}));
}

TEST_CASE("going back is bounded by the hook, whose count is kept") {
  lines trace;
  memory_store store;
  auto session = monitored(summing(), options{restore_from{store}}, roller{&trace, 4, 3, true}, memory_saver{&store, every_steps{3}});
  auto const done = session.try_run_to_completion(target<"train">);
  CHECK(done.error == error_kind::nan);
  CHECK(written(session.status()).substr(0, 10) == "too often ");
  CHECK(store.restores == 1 + 3);
  REQUIRE(trace.size() == 5);
  CHECK(trace[2].substr(0, 16) == "on_error a spike");
  CHECK(trace[3].substr(0, 18) == "on_error too often");
  CHECK(trace[4] == "close");
}

TEST_CASE("going back where nothing was saved is an error") {
  lines trace;
  memory_store store;
  auto session = monitored(summing(), options{restore_from{store}}, remembering{&trace}, roller{&trace, 2});
  auto const done = session.try_run_to_completion(target<"train">);
  CHECK(done.error == error_kind::nan);
  CHECK_FALSE(session.is_open());
  CHECK(written(session.status()).substr(0, 36) == "there is no checkpoint to go back to");
  CHECK(trace.back() == "close");
  CHECK(trace[2].substr(0, 16) == "on_error a spike");
}

TEST_CASE("a session that cannot be made anew when a gate goes back is closed with that error") {
  lines trace;
  memory_store store;
  store.in_restore = [](int restore) {
    return restore == 2 ? tautline::status{error_kind::internal, "the file is gone"} : tautline::status{};
  };
  auto session = monitored(summing(), options{restore_from{store}}, roller{&trace, 5}, memory_saver{&store, every_steps{3}});
  auto const done = session.try_run_to_completion(target<"train">);
  CHECK(done.error == error_kind::internal);
  CHECK_FALSE(session.is_open());
  REQUIRE(trace.size() == 3);
  CHECK(trace[1] == "on_error the file is gone (internal, create_session, step 4)");
  CHECK(trace[2] == "close");
}

TEST_CASE("a store that is out of reach when a gate goes back is asked again") {
  lines trace;
  memory_store store;
  store.in_restore = [](int restore) {
    return restore == 2 ? tautline::status{error_kind::unavailable, "wait"} : tautline::status{};
  };
  auto session = monitored(summing(), options{restore_from{store}}, roller{&trace, 5}, memory_saver{&store, every_steps{3}});
  (void)session.run_steps(5, target<"train">);
  CHECK(session.completed_steps() == 4);
  CHECK(store.restores == 3);
}

struct fails_in_on_error {
  static constexpr bool stateless = true;
  void on_error(tautline::error const& happened, life& at) const {
    if (happened.kind == error_kind::nan) at.fail(error_kind::internal, "me too");
  }
};

TEST_CASE("a hook that fails in on_error ends the going back") {
  lines trace;
  memory_store store;
  auto session = monitored(summing(), options{restore_from{store}}, roller{&trace, 5}, fails_in_on_error{},
                           memory_saver{&store, every_steps{3}});
  auto const done = session.try_run_to_completion(target<"train">);
  CHECK(done.error == error_kind::nan);
  CHECK(session.attached_errors().count() == 1);
  CHECK_FALSE(session.is_open());
  CHECK(store.restores == 1);
}

// --- all ways to drive --------------------------------------------------------------------------------------------------

/// A tick is a run that hooks are asked about.
struct run_ticks {
  int const* runs;
  [[nodiscard]] int now() const { return *runs; }
  static constexpr int ticks_per_second() { return 1; }
};
struct counts_runs {
  static constexpr bool stateless = true;
  int* runs;
  void before_run(auto&) const { ++*runs; }
  void after_run(auto& ctx) const {
    if (ctx.step() == 7) ctx.request_stop("seven");
  }
};

/// What is seen of a training that goes back from step 5 to step 3 and stops at step 7, in one way to drive it.
template <class Drive>
std::string driven(Drive drive) {
  lines trace;
  memory_store store;
  int runs = 0;
  auto session = monitored(summing(), options{restore_from{store}, tautline::with_clock{run_ticks{&runs}},
                                              tautline::longest_step{1}, tautline::frame_bytes<1024>{}},
                           counts_runs{&runs}, remembering{&trace}, roller{&trace, 5}, memory_saver{&store, every_steps{3}});
  drive(session);
  session.close();
  CHECK(session.raw()[fetch<"w">] == 0 + 1 + 2 + 3 + 4 + 5 + 6);
  CHECK(session.completed_steps() == 7);
  return joined(trace);
}

TEST_CASE("all ways to drive go back in the same way") {
  std::string const wanted =
      joined({"created at 0", "step 1", "step 2", "step 3", "step 4",
              "on_error a spike (nan, hook " + std::string(tautline::detail::type_name<roller>) + ", gate, step 5)",
              "restored with 3 and 4", "created at 3", "step 4", "step 5", "step 6", "step 7", "end", "close"});
  CHECK(driven([](auto& s) { (void)s.run_to_completion(target<"train">); }) == wanted);
  CHECK(driven([](auto& s) {
          std::string seen;
          for (auto const& step : s.steps(target<"train">, fetch<"loss">)) seen += number(step.step()) + ' ';
          CHECK(seen == "1 2 3 4 4 5 6 7 ");
        }) == wanted);
  CHECK(driven([](auto& s) {
          while (!s.should_stop()) (void)s.run(target<"train">, fetch<"loss">);
        }) == wanted);
  CHECK(driven([](auto& s) {
          while (!s.should_stop()) (void)s.run_for(2, target<"train">);
        }) == wanted);
  CHECK(driven([](auto& s) {
          while (!s.should_stop()) (void)s.run_steps(2, target<"train">);
        }) == wanted);
}

}  // namespace
