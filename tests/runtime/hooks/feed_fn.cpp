// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <stdexcept>

#include <tautline/hooks/feed_fn.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "support.hpp"

using namespace support;
using tautline::feed;
using tautline::feed_fn;
using tautline::monitored;
using tautline::run_args;
using tautline::static_graph;
using tautline::try_monitored;

namespace {

using large = std::array<float, 100>;
static_assert(!tautline::detail::feeds_by_value<large>);

auto echo() {
  return static_graph{}
      .placeholder<"rate">(0.1)
      .placeholder<"other">(1.0)
      .placeholder<"large">(large{})
      .op<"seen", "rate">([](double rate) { return rate; })
      .op<"other seen", "other">([](double other) { return other; })
      .op<"last", "large">([](large const& given) { return given[99]; });
}

}  // namespace

TEST_CASE("the K-th run is fed with the K-th value") {
  int calls = 0;
  auto session = monitored(echo(), feed_fn<"rate">([&] { return ++calls * 0.5; }));
  for (int run = 1; run <= 3; ++run) {
    auto const result = session.run(fetch<"seen">);
    CHECK(result[fetch<"seen">] == run * 0.5);
  }
  CHECK(calls == 3);
}

TEST_CASE("the callable may take the step of the run in progress") {
  auto session = monitored(echo(), tautline::options{tautline::initial_step{10}},
                           feed_fn<"rate">([](step_number step) { return static_cast<double>(step); }));
  CHECK(session.run(fetch<"seen">)[fetch<"seen">] == 11);
  CHECK(session.run(fetch<"seen">)[fetch<"seen">] == 12);
}

TEST_CASE("a large value that is made anew lives until the run is over") {
  auto session = monitored(echo(), feed_fn<"large">([n = 0.0f]() mutable {
                             large made{};
                             made[99] = ++n;
                             return made;
                           }));
  CHECK(session.run(fetch<"last">)[fetch<"last">] == 1);
  CHECK(session.run(fetch<"last">)[fetch<"last">] == 2);
}

TEST_CASE("a large value that is returned by reference is not copied") {
  large owned{};
  auto hook = feed_fn<"large">([&]() -> large const& { return owned; });
  static_assert(sizeof(hook) < sizeof(large));
  auto session = monitored(echo(), std::move(hook));
  owned[99] = 7;
  CHECK(session.run(fetch<"last">)[fetch<"last">] == 7);
}

TEST_CASE("without a name the callable returns a request") {
  auto session = monitored(echo(), feed_fn([](step_number step) {
                             return run_args{feed<"rate">(static_cast<double>(step)), feed<"other">(2.0)};
                           }));
  auto const result = session.run(fetch<"seen">, fetch<"other seen">);
  CHECK(result[fetch<"seen">] == 1);
  CHECK(result[fetch<"other seen">] == 2);
}

TEST_CASE("a run that is repeated after a recovery asks again") {
  world of;
  of.in_run = broken_in(2);
  std::vector<step_number> asked;
  auto session = monitored(backend(of), feed_fn<"rate">([&](step_number step) {
                             asked.push_back(step);
                             return 1.0;
                           }));
  (void)session.run();
  (void)session.run();
  CHECK(asked == std::vector<step_number>{1, 2, 1});
}

TEST_CASE("the caller's feed of the same name is a conflict that names both") {
  auto session = try_monitored(echo(), feed_fn<"rate">([] { return 0.5; }));
  CHECK(session.try_run(tautline::ask_if(true, feed<"rate">(0.5))).error() == error_kind::feed_conflict);
  CHECK(contains(written(session.status().message), "the caller"));
  CHECK(contains(written(session.status().message), "feed_fn"));
  CHECK(contains(written(session.status().message), "rate"));
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("what the callable throws ends the training before the run") {
  world of;
  auto session = monitored(backend(of), feed_fn<"rate">([](step_number step) {
                             if (step == 2) throw std::runtime_error("no more rates");
                             return 1.0;
                           }),
                           probe{&of, "p"});
  (void)session.run();
  CHECK(outcome_of([&] { (void)session.run(); }) == "threw no more rates");
  CHECK(of.runs == 1);
  CHECK(session.status().where == callback::before_run);
  CHECK(contains(session.status().hook, "feed_fn"));
  CHECK(count(of.trace, "end p") == 0);
  CHECK(count(of.trace, "close p") == 1);
}
#endif
