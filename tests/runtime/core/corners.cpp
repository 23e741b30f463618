// SPDX-License-Identifier: BSL-1.0
// Corners in which a session once read memory that was not its own, or was led astray by names of the user's.

#include <doctest/doctest.h>

#include <cstring>
#include <optional>
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
  session.run();
  session.run();
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
  session.run();
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

}  // namespace
