// SPDX-License-Identifier: BSL-1.0
#include <stdexcept>

#include "training.hpp"

// Hooks that are told of everything that happens in their session.

namespace {

using namespace training;
using tautline::hook_role;
using tautline::moment;

char const* word(hook_role role) {
  constexpr char const* words[] = {"none", "hook", "check", "saver", "evaluation"};
  return words[static_cast<int>(role)];
}

/// Writes down moments, indented by how deep they nest, and checks that they do.
struct watcher {
  static constexpr bool stateless = true;
  lines* trace;
  std::vector<std::string>* open;

  void on_enter(moment const& now) noexcept {
    trace->push_back(std::string(open->size(), ' ') + shown(now));
    open->push_back(shown(now));
  }
  void on_leave(moment const& now) noexcept {
    if (open->empty() || open->back() != shown(now)) {
      trace->push_back("NOT BALANCED: " + shown(now));
    } else {
      open->pop_back();
    }
  }
  static std::string shown(moment const& now) {
    return std::string(to_string(now.where)) + (*now.hook != 0 ? " " : "") + now.hook + " " + word(now.role) + " " +
           number(now.step) + " @" + std::to_string(now.place);
  }
};

struct everything {
  static constexpr bool stateless = true;
  callback throws_in = callback::none;
  error_kind fails = error_kind::none;

  void begin(auto&) {}
  void after_create_session(auto&, life& at) { act(callback::after_create_session, at); }
  auto before_run(auto& ctx) {
    act(callback::before_run, ctx);
    return fetch<"loss">;
  }
  void gate(auto& ctx, auto&) { act(callback::gate, ctx); }
  void after_run(auto& ctx, auto&) { act(callback::after_run, ctx); }
  void end(auto&, life& at) { act(callback::end, at); }
  void on_error(tautline::error const&, life& at) { act(callback::on_error, at); }
  void close(life& at) { act(callback::close, at); }
  void act(callback where, life& at) const {
    if (where != throws_in) return;
#if TAUTLINE_EXCEPTIONS
    if (fails == error_kind::none) throw std::runtime_error("thrown");
#endif
    at.fail(error_kind::internal, "failed");
  }
};

TEST_CASE("every callback and the session's own doings are told, nested, with role, step and place") {
  lines trace;
  std::vector<std::string> open;
  memory_store store;
  {
    auto session = monitored(summing(), watcher{&trace, &open}, named<"all">(everything{}),
                             named<"saver">(memory_saver{&store, tautline::every_steps{2}}));
    (void)session.run_steps(2, target<"train">);
  }
  CHECK(open.empty());
  CHECK(joined(trace) == joined({"create_session none 0 @3", "after_create_session all hook 0 @1",  //
                                 "before_run all hook 1 @1", "run none 1 @3", "gate all hook 1 @1", "run none 1 @3",
                                 "after_run all hook 1 @1", "after_run saver saver 1 @2",  //
                                 "before_run all hook 2 @1", "run none 2 @3", "gate all hook 2 @1", "run none 2 @3",
                                 "after_run all hook 2 @1", "after_run saver saver 2 @2", "save saver saver 2 @2",  //
                                 "end all hook 2 @1", "end saver saver 2 @2", "close all hook 2 @1"}));
}

struct a_check {
  using category = tautline::check;
  void after_run(auto&) {}
};
struct an_evaluator {
  using category = tautline::evaluating;
  void after_run(auto&) {}
};
/// Is told of itself.
struct watching_itself : watcher {
  void after_run(auto&) {}
};

TEST_CASE("roles are those of the categories, and a watching hook is told of itself") {
  lines trace;
  std::vector<std::string> open;
  auto session = monitored(summing(), named<"me">(watching_itself{{&trace, &open}}), named<"check">(a_check{}),
                           named<"evaluator">(an_evaluator{}));
  trace.clear();
  (void)session.run(target<"train">);
  CHECK(joined(trace) == joined({"run none 1 @3", "after_run me hook 1 @0", "after_run check check 1 @1",
                                 "after_run evaluator evaluation 1 @2"}));
}

TEST_CASE("several watching hooks are told in the order of the arguments") {
  lines trace;
  std::vector<std::string> first, second;
  auto session = monitored(summing(), watcher{&trace, &first}, named<"second">(watcher{&trace, &second}));
  trace.clear();
  (void)session.run(target<"train">);
  CHECK(joined(trace) == joined({"run none 1 @2", "run none 1 @2"}));
  CHECK(first.empty());
  CHECK(second.empty());
}

/// Runs the session until it fails in one callback; all moments must be left, whatever happens.
lines with_failure(callback where, error_kind kind) {
  lines trace;
  std::vector<std::string> open;
  {
    auto session = tautline::try_monitored(summing(), watcher{&trace, &open}, named<"all">(everything{where, kind}));
    if (session.is_open()) (void)session.try_run(target<"train">);
    (void)session.try_close();
  }
  CHECK(open.empty());
  for (std::string const& line : trace) {
    CAPTURE(line);
    CHECK(line.find("NOT BALANCED") == std::string::npos);
    CHECK(line[0] != ' ');  // here nothing stands within another
  }
  return trace;
}

TEST_CASE("moments are left on every way out") {
  for (error_kind const kind : {error_kind::none, error_kind::internal}) {
    for (callback const where : {callback::after_create_session, callback::before_run, callback::gate, callback::after_run,
                                 callback::end, callback::close}) {
      lines const trace = with_failure(where, kind);
      bool entered = false;
      for (std::string const& line : trace) entered = entered || line.rfind(std::string(to_string(where)) + " all", 0) == 0;
      CHECK(entered);
      CHECK(trace.back() == std::string("close all hook ") + trace.back()[15] + " @1");
    }
  }
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("moments are left when the session's run throws, and once for each try") {
  int runs = 0;
  auto graph = tautline::static_graph{}.variable<"w">(0.0F).update<"train", "w">([&runs](float&) {
    if (++runs == 1) throw tautline::aborted_error("once");
  });
  lines trace;
  std::vector<std::string> open;
  auto session = monitored(std::move(graph), watcher{&trace, &open});
  (void)session.run(target<"train">);
  CHECK(open.empty());
  CHECK(joined(trace) == joined({"create_session none 0 @1", "run none 1 @1", "create_session none 0 @1", "run none 1 @1"}));
}
#endif

/// Runs the raw session in a callback.
struct looks_inside {
  void after_run(auto& ctx) {
    auto const session = ctx.session();
    (void)session.run(fetch<"loss">);
  }
};
TEST_CASE("a hook's own raw run is a part of its callback; a look of the caller is told") {
  lines trace;
  std::vector<std::string> open;
  auto session = monitored(summing(), watcher{&trace, &open}, named<"inside">(looks_inside{}));
  trace.clear();
  (void)session.run(target<"train">);
  (void)session.evaluate(fetch<"loss">);
  CHECK(joined(trace) == joined({"run none 1 @2", "after_run inside hook 1 @1", "run none 1 @2"}));
}

TEST_CASE("the moments of a training are the same in all ways to drive it") {
  auto const seen = [](auto drive) {
    lines trace;
    std::vector<std::string> open;
    int runs = 0;
    struct run_ticks {
      int* runs;
      [[nodiscard]] int now() const { return ++*runs; }
      static constexpr int ticks_per_second() { return 1; }
    };
    memory_store store;
    auto session = monitored(summing(6), options{restore_from{store}, tautline::with_clock{run_ticks{&runs}},
                                                 tautline::longest_step{1}, tautline::frame_bytes<1024>{}},
                             watcher{&trace, &open}, named<"all">(everything{}),
                             named<"saver">(memory_saver{&store, tautline::every_steps{2}}));
    drive(session);
    session.close();
    CHECK(open.empty());
    return joined(trace);
  };
  std::string const wanted = seen([](auto& s) { (void)s.run_to_completion(target<"train">); });
  CHECK(wanted.find("save saver saver 6 @2") != std::string::npos);
  CHECK(wanted.find("run none 7 @3\nend all hook 6 @1") != std::string::npos);
  CHECK(seen([](auto& s) {
          for (auto const& step : s.steps(target<"train">)) (void)step;
        }) == wanted);
  CHECK(seen([](auto& s) {
          while (!s.should_stop()) (void)s.run(target<"train">);
        }) == wanted);
  CHECK(seen([](auto& s) {
          while (!s.should_stop()) (void)s.run_for(4, target<"train">);
        }) == wanted);
}

}  // namespace
