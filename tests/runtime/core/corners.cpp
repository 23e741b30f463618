// SPDX-License-Identifier: BSL-1.0
// Corners in which a session once read memory that was not its own, or was led astray by names of the user's.

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>
#include <tautline/sessions/step_function.hpp>

namespace hostile {

/// Functions that argument-dependent lookup would find instead of the library's own.
struct backend {
  int runs = 0;
  template <class Request>
  tautline::status run(Request const&) {
    ++runs;
    return {};
  }
};
[[maybe_unused]] inline int steps_per_run(backend const&) { return 7; }
[[maybe_unused]] inline void finalize(backend&) {}

}  // namespace hostile

namespace {

using namespace tautline;

TEST_CASE("free functions of the user's with the library's names change nothing") {
  auto session = monitored(hostile::backend{});
  (void)session.run();
  (void)session.run();
  CHECK(session.completed_steps() == 2);
}

/// Runs the session in `end`, after the body of the last step is gone.
struct looks_in_end {
  error_kind* seen;
  void end(auto& session) {
#if TAUTLINE_EXCEPTIONS
    try {
      (void)session.run(fetch<"loss">);
    } catch (exception const& refused) {
      *seen = refused.kind();
    }
#else
    *seen = session.run(fetch<"loss">).error();
#endif
  }
};

TEST_CASE("the body of a pushed step is forgotten with the step, also at the end of the input") {
  error_kind seen = error_kind::none;
  auto session = monitored(pushed_values<named_value<"loss", float>>{}, looks_in_end{&seen});
  for (int i = 0; !session.should_stop(); ++i) {
    (void)session.step([i](auto& values) {
      if (i == 2) return values.end_of_input();
      values.template set<"loss">(1.0F);
    });
  }
  session.close();
  CHECK(session.completed_steps() == 2);
  CHECK(seen == error_kind::invalid_argument);
}

struct fails_in_end {
  void end(auto&, life& at) { at.fail(error_kind::internal, "an error of a hook"); }
};

TEST_CASE("a session's memory may be of any size") {
  auto session = monitored(hostile::backend{}, options{frame_bytes<501>{}}, fails_in_end{}, fails_in_end{},
                           fails_in_end{});
  (void)session.run();
  CHECK(session.try_close().kind == error_kind::internal);
  CHECK(session.attached_errors().size() == 2);
  char words[100];
  session.attached_errors()[1].message.write_to(words, sizeof words);
  CHECK(std::string(words) == "an error of a hook");
}

TEST_CASE("nothing is written into no room") {
  char guard[2] = {'x', 'y'};
  error happened;
  happened.message = "words";
  happened.write_to(guard, 0);
  CHECK(stop_record{}.write_to(guard, 0) == 0);
  CHECK(text("words").write_to(guard, 0) == 0);
  CHECK(guard[0] == 'x');
  CHECK(stop_record{}.write_to(guard, 1) == 0);
  CHECK(guard[0] == 0);
  CHECK(guard[1] == 'y');
}

struct publishes_even_steps {
  using provides = tautline::provides<"best", float>;
  void after_run(auto& ctx) {
    if (ctx.step() % 2 == 0) ctx.template publish<"best">(static_cast<float>(ctx.step()));
  }
};

TEST_CASE("what a caller gets of a name that was not published is the last value, and has() tells") {
  auto session = monitored(hostile::backend{}, publishes_even_steps{});
  auto const first = session.run(fetch<"best">);
  CHECK_FALSE(first.has(fetch<"best">));
  CHECK(first[fetch<"best">] == 0.0F);
  auto const second = session.run(fetch<"best">);
  CHECK(second.has(fetch<"best">));
  CHECK(second[fetch<"best">] == 2.0F);
  auto const third = session.run(fetch<"best">);
  CHECK_FALSE(third.has(fetch<"best">));
  CHECK(third[fetch<"best">] == 2.0F);
}

struct fails_in_begin {
  void begin(auto&, life& at) { at.fail(error_kind::internal, "no graph for me"); }
};

TEST_CASE("a session that was never made refuses steps and looks, and touches no backend") {
  auto session = try_monitored(pushed_values<named_value<"loss", float>>{}, fails_in_begin{});
  CHECK(session.status().kind == error_kind::internal);
#if TAUTLINE_EXCEPTIONS
  CHECK_THROWS_AS((void)session.step([](auto&) { FAIL_CHECK("a step"); }), run_after_stop_error);
  CHECK_THROWS_AS((void)session.evaluate(fetch<"loss">), run_after_stop_error);
#else
  CHECK(session.step([](auto&) { FAIL_CHECK("a step"); }).error() == error_kind::run_after_stop);
  CHECK(session.evaluate(fetch<"loss">).error() == error_kind::run_after_stop);
#endif
}

// --- what was fed ----------------------------------------------------------------------------------------------------

auto doubling() {
  return static_graph{}.placeholder<"x">(1.0F).op<"y", "x">([](float x) { return 2 * x; });
}

TEST_CASE("a caller that feeds a placeholder and fetches it gets what it fed, in every drive") {
  auto session = monitored(doubling());
  auto const run = session.run(feed<"x">(5.0F), fetch<"x">, fetch<"y">);
  CHECK(run[fetch<"x">] == 5.0F);
  CHECK(run[fetch<"y">] == 10.0F);
  int looks = 0;
  for (auto const& step : session.steps(feed<"x">(7.0F), fetch<"x">)) {
    CHECK(step[fetch<"x">] == 7.0F);
    if (++looks == 2) break;
  }
  CHECK(session.raw()[fetch<"x">] == 1.0F);  // and it does not stay
  CHECK(session.evaluate(feed<"x">(3.0F), fetch<"x">)[fetch<"x">] == 3.0F);
  CHECK(session.run(fetch<"y">)[fetch<"y">] == 2.0F);
}

struct fails_after_run {
  void after_run(auto& ctx) { ctx.fail(error_kind::internal, "no"); }
};
struct large {
  float numbers[100];
};

TEST_CASE("a large value that was fed is not looked at after a run that a hook failed") {
  auto session = monitored(static_graph{}.placeholder<"x">(large{{1}}).op<"y", "x">([](large const& x) { return x.numbers[0]; }),
                           fails_after_run{});
  {
    auto const fed = std::make_unique<large>(large{{7}});
    CHECK(session.try_run(feed<"x">(*fed), fetch<"y">).error() == error_kind::internal);
  }
  CHECK(session.raw()[fetch<"x">].numbers[0] == 1.0F);
}

TEST_CASE("a value that was asked for under a condition that did not hold is not there") {
  auto session = monitored(doubling());
  auto const run = session.run(ask_if(false, fetch<"y">));
  CHECK_FALSE(run.has(fetch<"y">));
  CHECK(session.run(ask_if(true, fetch<"y">)).has(fetch<"y">));
}

// --- options and metadata --------------------------------------------------------------------------------------------

/// A backend that adds up the options of all parties, and tells what it used.
struct with_options {
  int used = 0;
  template <class Request>
  status run(Request const& request) {
    used = 0;
    request.each_options([this](int level) { used += level; });
    return {};
  }
  [[nodiscard]] int metadata() const { return used; }
  template <fixed_string Name>
  [[nodiscard]] int const& value() const {
    return used;
  }
};
struct wants_more {
  int* seen;
  auto before_run(auto& ctx) {
    return run_args{ask_if(ctx.step() == 2, run_options(10)), fetch<"x">};
  }
  void after_run(auto&, auto& values) { *seen = values.metadata(); }
};

TEST_CASE("options of all parties reach the backend, and its metadata the hooks") {
  int seen = 0;
  auto session = monitored(with_options{}, wants_more{&seen});
  (void)session.run(run_options(1));
  CHECK(seen == 1);
  (void)session.run(run_options(1), target<"t">);
  CHECK(seen == 11);
  (void)session.run();
  CHECK(seen == 0);
}

// --- triggers --------------------------------------------------------------------------------------------------------

template <class Trigger>
struct counts_due {
  Trigger trigger;
  std::string* steps;
  void after_run(auto& ctx) {
    if (ctx.due()) *steps += std::to_string(ctx.step()) + " ";
  }
  void end(auto&, life& at) {
    if (at.due()) *steps += "end";
  }
};
template <class Trigger>
counts_due(Trigger, std::string*) -> counts_due<Trigger>;

TEST_CASE("a joined trigger that counts by a value takes no boundary for handled that it did not act on") {
  std::string steps;
  {
    auto session = monitored(
        static_graph{}.variable<"gs">(0.0F).update<"t", "gs">([](float& gs) { gs += 4; }),
        counts_due{step_from<"gs">(every_steps{10} | at_end), &steps});
    (void)session.run_steps(8, target<"t">);
  }
  CHECK(steps == "4 6 end");
}

TEST_CASE("a predicate is asked once a run, also where it is joined") {
  std::string steps;
  int asked = 0;
  auto session = monitored(hostile::backend{}, counts_due{when([&](step_number) { return ++asked, false; }) | every_steps{100}, &steps});
  (void)session.run_steps(4);
  CHECK(asked == 4);
}

TEST_CASE("a run that is no step leaves a handled step handled") {
  std::string steps;
  {
    auto session = monitored(
        static_graph{}.variable<"w">(0.0F).update<"t", "w">([](float& w) { w += 1; }).step_target<"t">(),
        counts_due{every_steps{3} | at_end, &steps});
    (void)session.run_steps(3, target<"t">);
    (void)session.run(fetch<"w">);
  }
  CHECK(steps == "3 ");
}

// --- calls and texts -------------------------------------------------------------------------------------------------

TEST_CASE("a budget below nothing is none") {
  struct ticking {
    std::uint64_t at = 0;
    std::uint64_t now() { return ++at; }
    static int ticks_per_second() { return 1000; }
  };
  auto session = monitored(hostile::backend{}, options{with_clock{ticking{}}});
  CHECK(session.run_for(-5).steps == 0);
  CHECK(session.run_for(20).steps > 0);
}

struct stops_and_fails {
  void after_run(auto& ctx) {
    ctx.request_stop("first");
    ctx.request_stop(copied{"ignored"});
    ctx.fail(error_kind::internal, copied{"the real reason"});
  }
};

TEST_CASE("a reason that comes too late takes no room from an error") {
  auto session = monitored(hostile::backend{}, stops_and_fails{});
  CHECK(session.try_run().error() == error_kind::internal);
  char words[60];
  session.status().message.write_to(words, sizeof words);
  CHECK(std::string(words) == "the real reason");
}

/// Calls whatever it is given, in after_run.
struct calls_back {
  std::function<void(step_number)>* call;
  void after_run(run_context_base& ctx) {
    if (*call) (*call)(ctx.step());
  }
};

TEST_CASE("a hook that calls the session that it stands in is refused as busy") {
  std::function<void(step_number)> call;
  auto session = monitored(hostile::backend{}, calls_back{&call});
  std::string refused;
  call = [&](step_number) {
    refused += session.try_run().error() == error_kind::busy ? "run " : "? ";
    refused += session.try_run_to_completion().error == error_kind::busy ? "loop " : "? ";
    refused += session.try_close().kind == error_kind::busy ? "close " : "? ";
    session.abandon();
    refused += session.is_open() ? "open; " : "? ";
  };
  (void)session.run_steps(1);
  (void)session.run();
  for ([[maybe_unused]] auto const& step : session.steps()) break;
  CHECK(refused == "run loop close open; run loop close open; run loop close open; ");
  CHECK(session.completed_steps() == 3);
}

#if TAUTLINE_EXCEPTIONS

/// Fails where no callback is being called.
struct throws_in_trigger {
  int* calls;
  int at;
  bool operator()(step_number) const {
    if (++*calls == at) throw aborted_error("a predicate");
    return false;
  }
};

TEST_CASE("a predicate that throws is an error of its hook: nothing is recovered, everything is closed") {
  for (int at : {1, 2}) {
    int calls = 0;
    std::string steps;
    auto session = monitored(hostile::backend{}, named<"q">(counts_due{when(throws_in_trigger{&calls, at}), &steps}));
    if (at == 2) session.run();
    CHECK_THROWS_AS(session.run(), aborted_error);
    CHECK(session.status().where == callback::before_run);
    CHECK(std::string(session.status().hook) == "q");
    CHECK(session.raw().backend().runs == at - 1);
    CHECK_FALSE(session.is_open());
  }
}

struct closes {
  std::string* told;
  void close() { *told += "close "; }
  void on_error(error const&) { *told += "error "; }
};

struct aborts {
  template <class Request>
  status run(Request const&) {
    return {error_kind::aborted, "gone"};
  }
};
struct cannot_tell : hostile::backend {
  step_number initial_step() { throw internal_error("no step"); }
};

TEST_CASE("a predicate that throws in end, a sleeper that throws, and a step that cannot be told: all hooks are closed") {
  std::string told;
  std::string steps;
  int calls = 0;
  {
    auto session = monitored(hostile::backend{}, counts_due{when(throws_in_trigger{&calls, 2}) | at_end, &steps},
                             closes{&told});
    session.run();
    CHECK_THROWS_AS(session.close(), aborted_error);
  }
  CHECK(told == "close ");

  told.clear();
  {
    auto session = monitored(aborts{}, options{with_sleep{[](std::uint32_t) { throw 42; }}}, closes{&told});
    CHECK_THROWS_AS(session.run_to_completion(), int);
  }
  CHECK(told == "error error close ");

  told.clear();
  CHECK_THROWS_AS((void)monitored(cannot_tell{}, closes{&told}), internal_error);
  CHECK(told == "error close ");
}

#endif

}  // namespace
