// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>

#include <tautline/hooks/evaluator.hpp>
#include <tautline/hooks/tensor_logger.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "support.hpp"

using namespace support;
using tautline::at_end;
using tautline::basic_evaluator;
using tautline::dataset;
using tautline::datasets;
using tautline::evaluation;
using tautline::evaluator;
using tautline::every_steps;
using tautline::feed;
using tautline::metrics;
using tautline::monitored;
using tautline::run_args;
using tautline::static_graph;
using tautline::tensor_logger;
using tautline::try_monitored;

namespace {

struct batch {
  std::vector<float> x;
  [[nodiscard]] double size() const { return static_cast<double>(x.size()); }
};

/// Trains w towards the input with some noise: an input, a random state, and a value that the evaluation uses, too.
auto noisy() {
  return static_graph{}
      .variable<"w">(0.0f)
      .variable<"random">(std::uint32_t{1})
      .placeholder<"x">(1.0f)
      .source<"input">(0.0f, [n = 0](float& x) mutable { return x = static_cast<float>(++n % 7), n <= 1000; })
      .op<"error", "w", "x">([](float w, float x) { return (w - x) * (w - x); })
      .op<"needs input", "w", "input">([](float w, float input) { return w - input; })
      .update<"train", "w", "random", "input">([](float& w, std::uint32_t& random, float input) {
        random = random * 1664525U + 1013904223U;
        w += 0.1f * (input - w) + static_cast<float>(random >> 16) * 1e-7f;
      });
}

auto const feed_x = [](float x) { return feed<"x">(x); };

struct writes {
  lines* written;
  void add_scalar(std::string_view tag, double what, step_number step) {
    written->push_back(std::string(tag) + " " + number(what) + " " + number(step));
  }
};

struct wants_validation {
  lines* got;
  auto before_run(auto&) const { return fetch<"validation/error">; }
  void after_run(auto& ctx, auto const& values) const {
    got->push_back(number(ctx.step()) + " " + number(values[fetch<"validation/error">]));
  }
};

auto silent(lines& said) {
  return tautline::logging{.log = [&said](std::string_view line) { said.emplace_back(line); }};
}

/// w is 0 for ever.
auto still() {
  return static_graph{}
      .variable<"w">(0.0f)
      .placeholder<"x">(batch{})
      .op<"mean", "w", "x">([](float w, batch const& given) {
        float sum = w;
        for (float x : given.x) sum += x;
        return sum / static_cast<float>(given.x.size());
      })
      .op<"largest", "x">([](batch const& given) {
        float found = 0;
        for (float x : given.x) found = x > found ? x : found;
        return found;
      });
}

}  // namespace

TEST_CASE("it evaluates when due, and hands the means to those who ask, whatever the order of the arguments") {
  std::vector<float> const validation{1, 2, 3};
  lines got;
  lines said;
  auto session = monitored(noisy(), wants_validation{&got},
                           evaluator{every_steps{2}, datasets{dataset<"validation">([&]() -> auto const& { return validation; })},
                                     metrics<"error">{}, feed_x, tautline::equal_weights{}, silent(said)});
  for (int run = 1; run <= 5; ++run) {
    auto const result = session.run(target<"train">, fetch<"w">, fetch<"validation/error">);
    CHECK(result.has(fetch<"validation/error">) == (run % 2 == 0));
    if (run % 2 == 0) {
      double const w = static_cast<double>(result[fetch<"w">]);
      double mean = 0;
      for (double x : {1.0, 2.0, 3.0}) mean += (w - x) * (w - x) / 3;
      CHECK(result[fetch<"validation/error">] == doctest::Approx(mean));
    }
  }
  CHECK(got.size() == 2);
  CHECK(got.front().starts_with("2 "));
  CHECK(got.back().starts_with("4 "));
}

TEST_CASE("means are weighted, so that a last batch that is not full counts for what it holds") {
  std::vector<batch> const parts{{{1, 2, 3}}, {{6}}};
  lines said;
  auto hook = basic_evaluator{every_steps{1}, datasets{dataset<"test">([&]() -> auto const& { return parts; })},
                              metrics<"mean", "largest">{}, [](batch const& part) { return feed<"x">(part); },
                              [](batch const& part) { return part.size(); }};
  using hook_type = decltype(hook);
  auto session = monitored(still(), std::move(hook));
  (void)session.run(fetch<"w">);
  auto& told = session.template hook<hook_type>();
  CHECK(told.evaluations() == 1);
  CHECK(told.template get<"test", "mean">() == 3);
  CHECK(told.template get<"test", "largest">() == (3 * 3 + 6) / 4.0);
}

TEST_CASE("a dataset is a range, a factory of ranges, or of sources of pointers or optionals") {
  std::array<batch, 2> const parts{{{{1}}, {{3}}}};
  std::vector<double> means;
  auto session = monitored(
      still(), basic_evaluator{every_steps{1},
                               datasets{dataset<"reference">([&]() -> auto const& { return parts; }),
                                        dataset<"made">([] { return std::vector<batch>{{{5}}}; }),
                                        dataset<"pointers">([&] {
                                          return [&parts, at = std::size_t{0}]() mutable { return at < 2 ? &parts[at++] : nullptr; };
                                        }),
                                        dataset<"optionals">([] {
                                          return [n = 0]() mutable {
                                            return ++n <= 3 ? std::optional<batch>{batch{{static_cast<float>(n)}}} : std::nullopt;
                                          };
                                        })},
                               metrics<"mean">{}, [](batch const& part) { return feed<"x">(part); }, tautline::equal_weights{},
                               [&](step_number, evaluation const& found) {
                                 means.assign(found.values, found.values + found.dataset_count * found.metric_count);
                               }});
  (void)session.run(fetch<"w">);
  CHECK(means == std::vector<double>{2, 5, 2, 2});
  (void)session.run(fetch<"w">);  // opened anew each time
  CHECK(means == std::vector<double>{2, 5, 2, 2});
}

TEST_CASE("the training does not notice: bit-equal with and without, and what the caller fetched is what it fetched") {
  std::vector<float> const validation{1, 2, 3};
  lines said;
  auto with = monitored(noisy(), evaluator{every_steps{3} | at_end,
                                           datasets{dataset<"validation">([&]() -> auto const& { return validation; })},
                                           metrics<"error">{}, feed_x, tautline::equal_weights{}, silent(said)});
  auto without = monitored(noisy());
  for (int run = 0; run < 50; ++run) {
    auto const a = with.run(target<"train">, fetch<"w">, fetch<"random">, fetch<"input">, fetch<"error">, feed<"x">(0.25f));
    auto const b = without.run(target<"train">, fetch<"w">, fetch<"random">, fetch<"input">, fetch<"error">, feed<"x">(0.25f));
    CHECK(a[fetch<"w">] == b[fetch<"w">]);
    CHECK(a[fetch<"random">] == b[fetch<"random">]);
    CHECK(a[fetch<"input">] == b[fetch<"input">]);
    CHECK(a[fetch<"error">] == b[fetch<"error">]);
  }
  CHECK(said.size() > 50);
}

TEST_CASE("hooks that come later see the values of the run, not those of the evaluation") {
  std::vector<float> const validation{100};
  lines said;
  lines ignored;
  auto session = monitored(noisy(), evaluator{every_steps{1},
                                              datasets{dataset<"validation">([&]() -> auto const& { return validation; })},
                                              metrics<"error">{}, feed_x, tautline::equal_weights{}, silent(ignored)},
                           tensor_logger<"error">{every_steps{1}, {.log = [&](std::string_view line) { said.emplace_back(line); }}});
  auto const result = session.run(fetch<"error">, feed<"x">(2.0f));
  CHECK(result[fetch<"error">] == 4);
  CHECK(said == lines{"(    N/A    ) Step:      1, error = 4"});
}

TEST_CASE("the table, and the tags of the summary writer") {
  std::vector<float> const validation{1, 2};
  lines said;
  lines written;
  writes writer{&written};
  auto how = silent(said);
  how.writer = writer;
  auto session = monitored(noisy(), evaluator{every_steps{2},
                                              datasets{dataset<"validation">([&]() -> auto const& { return validation; }),
                                                       dataset<"one">([] { return std::array<float, 1>{0}; })},
                                              metrics<"error", "w">{}, feed_x, tautline::equal_weights{}, how, 2});
  (void)session.run_steps(2, fetch<"error">);
  CHECK(joined(said) == "Step 2 evaluation:\n"
                        "┌────────────┬───────┬──────┐\n"
                        "│            │ error │    w │\n"
                        "├────────────┼───────┼──────┤\n"
                        "│ validation │  2.50 │ 0.00 │\n"
                        "│ one        │  0.00 │ 0.00 │\n"
                        "└────────────┴───────┴──────┘\n");
  CHECK(written == lines{"validation/error 2.5 2", "validation/w 0 2", "one/error 0 2", "one/w 0 2"});
}

TEST_CASE("exact steps: fresh, resumed, at the end") {
  std::vector<float> const validation{1};
  auto const steps_of = [&](auto trigger, int runs, step_number first) {
    std::vector<step_number> steps;
    auto session = monitored(noisy(), tautline::options{tautline::initial_step{first}},
                             basic_evaluator{trigger, datasets{dataset<"validation">([&]() -> auto const& { return validation; })},
                                             metrics<"error">{}, feed_x, tautline::equal_weights{},
                                             [&](step_number step, evaluation const&) { steps.push_back(step); }});
    (void)session.run_steps(runs, target<"train">);
    session.close();
    return steps;
  };
  using steps = std::vector<step_number>;
  CHECK(steps_of(every_steps{3}, 7, 0) == steps{3, 6});
  CHECK(steps_of(every_steps{3} | at_end, 7, 0) == steps{3, 6, 7});
  CHECK(steps_of(every_steps{3} | at_end, 6, 0) == steps{3, 6});
  CHECK(steps_of(every_steps{3} | at_end, 3, 4) == steps{6, 7});
}

TEST_CASE("a backend that cannot be copied is evaluated in place, and after a recovery again") {
  struct immovable : scripted {
    explicit immovable(world& given) : scripted(given, [](long run) { return static_cast<double>(run); }) {}
    immovable(immovable&&) = default;
    immovable(immovable const&) = delete;
  };
  world of;
  of.in_run = broken_in(4);
  std::vector<double> means;
  std::array<int, 1> const one{0};
  auto session = monitored(immovable(of), basic_evaluator{every_steps{2}, datasets{dataset<"d">([&]() -> auto const& { return one; })},
                                                          metrics<"loss">{}, [](int) { return run_args{}; },
                                                          tautline::equal_weights{},
                                                          [&](step_number step, evaluation const& found) {
                                                            means.push_back(static_cast<double>(step));
                                                            means.push_back(found.values[0]);
                                                          }});
  (void)session.run_steps(2);  // runs 1, 2 and the evaluation's
  (void)session.run_steps(2);  // the 4th breaks; back to step 0
  CHECK(means == std::vector<double>{2, 3, 2, 7});
}

TEST_CASE("in place, too, nothing stays fed") {
  std::vector<float> const validation{100};
  auto const made = [] {
    return static_graph{}
        .placeholder<"x">(1.0f)
        .op<"error", "x">([owned = std::make_unique<float>(2.0f)](float x) { return *owned * x; });
  };
  auto session = monitored(made(), basic_evaluator{every_steps{1}, datasets{dataset<"d">([&]() -> auto const& { return validation; })},
                                                   metrics<"error">{}, feed_x});
  static_assert(!std::is_copy_constructible_v<std::remove_cvref_t<decltype(session.raw().backend())>>);
  (void)session.run();
  CHECK(session.run(fetch<"x">)[fetch<"x">] == 1);
}

TEST_CASE("errors: a dataset without elements, a metric that needs the training's input, a failing run") {
  std::vector<float> const validation{1};
  std::vector<float> const none;
  {
    auto session = try_monitored(noisy(), basic_evaluator{every_steps{1}, datasets{dataset<"d">([&]() -> auto const& { return none; })},
                                                          metrics<"error">{}, feed_x});
    (void)session.try_run(target<"train">);
    CHECK(session.status().kind == error_kind::invalid_argument);
    CHECK(contains(written(session.status().message), "no elements"));
  }
  {
    auto session = try_monitored(
        static_graph{}.source<"x">(0.0f, [n = 0](float&) mutable { return ++n <= 1; }).op<"loss", "x">([](float x) { return x; }),
        basic_evaluator{every_steps{1}, datasets{dataset<"d">([&]() -> auto const& { return validation; })}, metrics<"loss">{},
                        [](float) { return run_args{}; }});
    (void)session.try_run(fetch<"loss">);
    CHECK(session.status().kind == error_kind::out_of_range);
    CHECK(session.status().where == callback::after_run);
    CHECK(contains(written(session.status().message), "needs the training's input"));
  }
  world of;
  of.in_run = [](long run) { return run == 2 ? tautline::status{error_kind::internal, "on fire"} : tautline::status{}; };
  auto session = try_monitored(scripted(of), basic_evaluator{every_steps{1}, datasets{dataset<"d">([&]() -> auto const& { return validation; })},
                                                             metrics<"loss">{}, [](float) { return run_args{}; }});
  (void)session.try_run();
  CHECK(session.status().kind == error_kind::internal);
  CHECK(written(session.status().message) == "on fire");
}

TEST_CASE("a metric that needs the training's input gets it from the dataset, where the source is fed") {
  std::vector<float> const validation{5, 7};
  double mean = 0;
  auto session = monitored(noisy(), basic_evaluator{every_steps{1}, datasets{dataset<"d">([&]() -> auto const& { return validation; })},
                                                    metrics<"needs input">{}, [](float x) { return feed<"input">(x); },
                                                    tautline::equal_weights{},
                                                    [&](step_number, evaluation const& found) { mean = found.values[0]; }});
  CHECK(session.run(fetch<"input">)[fetch<"input">] == 1);
  CHECK(mean == -6);
  CHECK(session.run(fetch<"input">)[fetch<"input">] == 2);
}

TEST_CASE("a metric that is not finite is reported as it is") {
  std::vector<float> const validation{1, std::numeric_limits<float>::infinity()};
  double mean = 0;
  auto session = monitored(noisy(), basic_evaluator{every_steps{1}, datasets{dataset<"d">([&]() -> auto const& { return validation; })},
                                                    metrics<"error">{}, feed_x, tautline::equal_weights{},
                                                    [&](step_number, evaluation const& found) { mean = found.values[0]; }});
  (void)session.run(target<"train">);
  CHECK(mean == std::numeric_limits<double>::infinity());
}

TEST_CASE("a second begin counts evaluations anew") {
  std::vector<float> const validation{1};
  auto hook = basic_evaluator{every_steps{1}, datasets{dataset<"d">([&]() -> auto const& { return validation; })}, metrics<"error">{}, feed_x};
  {
    auto session = monitored(noisy(), std::ref(hook));
    (void)session.run_steps(2, target<"train">);
    CHECK(hook.evaluations() == 2);
  }
  auto session = monitored(noisy(), std::ref(hook));
  CHECK(hook.evaluations() == 0);
}

TEST_CASE("log = false without a writer is an error") {
  std::vector<float> const validation{1};
  auto session = try_monitored(noisy(), evaluator{every_steps{1}, datasets{dataset<"d">([&]() -> auto const& { return validation; })},
                                                  metrics<"error">{}, feed_x, tautline::equal_weights{}, {.log = false}});
  CHECK(session.status().kind == error_kind::invalid_argument);
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("what opening a dataset throws is an error of the hook") {
  auto session = monitored(noisy(), basic_evaluator{every_steps{2}, datasets{dataset<"d">([]() -> std::vector<float> {
                                                      throw std::runtime_error("no such file");
                                                    })},
                                                    metrics<"error">{}, feed_x});
  CHECK(outcome_of([&] { (void)session.run_to_completion(target<"train">); }) == "threw no such file");
  CHECK(session.status().step == 2);
  CHECK(contains(session.status().hook, "evaluator"));
}
#endif
