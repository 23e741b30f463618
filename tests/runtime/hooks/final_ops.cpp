// SPDX-License-Identifier: BSL-1.0
#include <array>

#include <tautline/hooks/final_ops.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "support.hpp"

using namespace support;
using tautline::final_ops;
using tautline::monitored;
using tautline::static_graph;

namespace {

auto counting(int elements) {
  return static_graph{}
      .variable<"sum">(0)
      .source<"x">(0, [elements, n = 0](int& x) mutable { return (x = ++n) <= elements; })
      .op<"twice", "sum">([](int sum) { return 2 * sum; })
      .op<"of input", "x">([](int x) { return x; })
      .op<"pair", "sum">([](int sum) { return std::array<int, 2>{sum, -sum}; })
      .update<"train", "sum", "x">([](int& sum, int x) { sum += x; });
}

}  // namespace

TEST_CASE("the values are computed once more at the end, and kept") {
  auto session = monitored(counting(100), final_ops<"twice", "sum">{});
  using hook = final_ops<"twice", "sum">;
  (void)session.run_steps(3, target<"train">);
  CHECK_FALSE(session.hook<hook>().ready());
  session.close();
  CHECK(session.hook<hook>().ready());
  CHECK(session.hook<hook>().get<"sum">() == 6);
  CHECK(session.hook<hook>().get<"twice">() == 12);
  CHECK(session.completed_steps() == 3);
}

TEST_CASE("values that are no numbers go to a callback") {
  std::array<int, 2> pair{};
  auto session = monitored(counting(100),
                           final_ops<"pair">::then([&](auto const& result) { pair = result[fetch<"pair">]; }));
  (void)session.run_steps(2, target<"train">);
  session.close();
  CHECK(pair == std::array<int, 2>{3, -3});
}

TEST_CASE("after the end of the input, values that need none are there") {
  auto session = monitored(counting(4), final_ops<"sum">{});
  CHECK(session.run_to_completion(target<"train">).stop.source == tautline::stop_source::end_of_input);
  session.close();
  CHECK(session.hook<final_ops<"sum">>().get<"sum">() == 10);
}

TEST_CASE("after the end of the input, values that need some are a clear error, and the others get their end") {
  world of;
  auto session = tautline::try_monitored(counting(4), final_ops<"of input">{}, stop_after{100});
  (void)session.try_run_to_completion(target<"train">);
  auto const error = session.try_close();
  CHECK(error.kind == error_kind::out_of_range);
  CHECK(error.where == callback::end);
  CHECK(contains(error.hook, "final_ops"));
  CHECK(contains(written(error.message), "input has ended"));
  CHECK_FALSE(session.hook<final_ops<"of input">>().ready());
}

TEST_CASE("another error of the run is told") {
  world of;
  auto session = tautline::try_monitored(scripted(of), final_ops<"loss">{}, probe{&of, "p"});
  (void)session.try_run();
  of.in_run = [](long) { return tautline::status{error_kind::internal, "on fire"}; };
  auto const error = session.try_close();
  CHECK(error.kind == error_kind::internal);
  CHECK(error.where == callback::end);
  CHECK(count(of.trace, "end p") == 1);
}

TEST_CASE("there is no run after an error") {
  world of;
  of.in_run = [](long run) { return run == 2 ? tautline::status{error_kind::internal, "on fire"} : tautline::status{}; };
  auto session = tautline::try_monitored(scripted(of), final_ops<"loss">{});
  (void)session.try_run_to_completion();
  (void)session.try_close();
  CHECK(of.runs == 2);
  CHECK_FALSE(session.hook<final_ops<"loss">>().ready());
}

TEST_CASE("no hook sees the run, and it is no step") {
  world of;
  auto session = monitored(scripted(of), final_ops<"loss">{}, probe{&of, "p"});
  (void)session.run();
  session.close();
  CHECK(of.runs == 2);
  CHECK(count(of.trace, "raw run 2 loss") == 1);
  CHECK(count(of.trace, "before_run p step=2") == 0);
}

TEST_CASE("a second begin forgets the values") {
  final_ops<"sum"> hook;
  {
    auto session = monitored(counting(100), std::ref(hook));
    (void)session.run_steps(1, target<"train">);
    session.close();
    CHECK(hook.ready());
  }
  auto session = monitored(counting(100), std::ref(hook));
  CHECK_FALSE(hook.ready());
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("a backend that throws the end of the input gives the same clear error") {
  world of;
  auto session = monitored(scripted(of), final_ops<"loss">{});
  (void)session.run();
  of.in_run = [](long) -> tautline::status { throw tautline::end_of_input_error("nothing left"); };
  auto const error = session.try_close();
  CHECK(error.kind == error_kind::out_of_range);
  CHECK(contains(written(error.message), "input has ended"));
}

TEST_CASE("what the callback throws reaches the caller of close") {
  auto session = monitored(counting(100), final_ops<"sum">::then([](auto const&) { throw 5; }));
  (void)session.run_steps(1, target<"train">);
  CHECK_THROWS_AS(session.close(), int);
}
#endif
