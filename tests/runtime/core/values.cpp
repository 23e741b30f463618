// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <optional>

#include "support.hpp"

#include <tautline/sessions/static_graph.hpp>

// Requests and values: hooks get what they asked for, computed once, never copied.

namespace {

using namespace support;
using tautline::ask_if;
using tautline::feed;
using tautline::monitored;
using tautline::named;
using tautline::run_args;
using tautline::static_graph;

using big = std::array<float, 16>;

/// How often each node ran.
struct counts {
  int loss = 0;
  int accuracy = 0;
  int train = 0;
};

/// w, rate and bias (placeholders), loss = w + bias, accuracy = 2 * loss, train: w += rate.
auto small_graph(counts& of) {
  return static_graph{}
      .variable<"w">(1.0f)
      .placeholder<"rate">(1.0f)
      .placeholder<"bias">(0.5f)
      .op<"loss", "w", "bias">([&of](float w, float bias) {
        ++of.loss;
        return w + bias;
      })
      .op<"accuracy", "loss">([&of](float loss) {
        ++of.accuracy;
        return 2 * loss;
      })
      .update<"train", "w", "rate">([&of](float& w, float rate) {
        ++of.train;
        w += rate;
      });
}

// --- exactly what was asked for --------------------------------------------------------------------------------------

/// Asks in the runs of even steps.
struct even_asker {
  lines* seen;
  auto before_run(auto& ctx) const { return ask_if(ctx.step() % 2 == 0, fetch<"loss">); }
  void after_run(auto& ctx) const { seen->push_back(number(ctx.step()) + " nothing"); }
  void after_run(auto& ctx, auto const& values) const {
    seen->push_back(number(ctx.step()) + " loss=" + number(values[fetch<"loss">]));
  }
};
/// The same by an optional.
struct optional_asker {
  lines* seen;
  using request = run_args<std::remove_cvref_t<decltype(fetch<"loss">)>>;
  std::optional<request> before_run(auto& ctx) const {
    if (ctx.step() % 2 != 0) return std::nullopt;
    return request(fetch<"loss">);
  }
  void after_run(auto& ctx) const { seen->push_back(number(ctx.step()) + " nothing"); }
  void after_run(auto& ctx, auto const& values) const {
    seen->push_back(number(ctx.step()) + " loss=" + number(values[fetch<"loss">]));
  }
};
/// Has nothing to hear in runs for which it did not ask.
struct silent_asker {
  lines* seen;
  auto before_run(auto& ctx) const { return ask_if(ctx.step() % 2 == 0, fetch<"loss">); }
  void after_run(auto& ctx, auto const& values) const {
    seen->push_back(number(ctx.step()) + " loss=" + number(values[fetch<"loss">]));
  }
};

TEST_CASE("after_run(ctx, values) comes in the runs for which the hook asked, after_run(ctx) in the others") {
  counts of;
  lines seen;
  lines expected = {"1 nothing", "2 loss=2.5", "3 nothing", "4 loss=4.5"};
  SUBCASE("ask_if") {
    auto session = monitored(small_graph(of), even_asker{&seen});
    (void)session.run_steps(4, target<"train">);
  }
  SUBCASE("an optional") {
    auto session = monitored(small_graph(of), optional_asker{&seen});
    (void)session.run_steps(4, target<"train">);
  }
  SUBCASE("no after_run(ctx)") {
    auto session = monitored(small_graph(of), silent_asker{&seen});
    (void)session.run_steps(4, target<"train">);
    expected = {"2 loss=2.5", "4 loss=4.5"};
  }
  CHECK(joined(seen) == joined(expected));
  CHECK(of.loss == 2);  // and is computed in these runs only
}

/// Feeds and wants a target, which is not asking.
struct feeder {
  lines* seen;
  auto before_run(auto&) const { return run_args{feed<"bias">(2.0f), target<"train">}; }
  void after_run(auto& ctx) const { seen->push_back(number(ctx.step()) + " nothing"); }
};

TEST_CASE("who feeds, or names a target, has not asked for a value") {
  counts of;
  lines seen;
  auto session = monitored(small_graph(of), feeder{&seen});
  auto const result = session.run(fetch<"loss">);
  CHECK(joined(seen) == "1 nothing\n");
  CHECK(of.train == 1);
  CHECK(result[fetch<"loss">] == 3.0f);
}

struct asker_of_two {
  lines* seen;
  auto before_run(auto&) const { return run_args{fetch<"accuracy">, fetch<"loss">}; }
  void after_run(auto&, auto const& values) const {
    values.each([&](char const* name, float value) { seen->push_back(std::string(name) + "=" + number(value)); });
    CHECK(values.has(fetch<"loss">));
  }
};

TEST_CASE("values are known by name, and each() gives them in the order of the request") {
  counts of;
  lines seen;
  auto session = monitored(small_graph(of), asker_of_two{&seen});
  (void)session.run();
  CHECK(joined(seen) == "accuracy=3\nloss=1.5\n");
}

// --- computed once, and only if somebody asked -----------------------------------------------------------------------

/// Asks for the accuracy at one step.
struct rare_asker {
  step_number at;
  auto before_run(auto& ctx) const { return ask_if(ctx.step() == at, fetch<"accuracy">); }
  void after_run(auto&, auto const& values) const { CHECK(values[fetch<"accuracy">] > 0); }
};

TEST_CASE("a value is computed once a step, however many ask, and not at all if nobody does") {
  counts of;
  lines seen;
  auto session = monitored(small_graph(of), rare_asker{2}, even_asker{&seen}, rare_asker{2}, rare_asker{4});
  (void)session.run(target<"train">);  // nobody asks
  CHECK(of.loss == 0);
  CHECK(of.accuracy == 0);
  (void)session.run(target<"train">, fetch<"accuracy">, fetch<"loss">);  // five do
  CHECK(of.loss == 1);
  CHECK(of.accuracy == 1);
  (void)session.run(fetch<"loss">);  // only the caller does
  CHECK(of.loss == 2);
  CHECK(of.accuracy == 1);
  (void)session.run(target<"train">);  // two do
  CHECK(of.loss == 3);
  CHECK(of.accuracy == 2);
  CHECK(of.train == 3);
}

TEST_CASE("a hook's asking does not make its run a training step") {
  counts of;
  lines seen;
  auto session = monitored(small_graph(of), even_asker{&seen});
  (void)session.run_steps(2);
  CHECK(of.train == 0);
}

// --- no copies -------------------------------------------------------------------------------------------------------

auto big_graph() {
  return static_graph{}
      .variable<"weights">(big{})
      .placeholder<"offset">(big{})
      .op<"sum", "weights", "offset">(big{},
                                      [](big& out, big const& weights, big const& offset) {
                                        for (std::size_t i = 0; i < out.size(); ++i) out[i] = weights[i] + offset[i];
                                      })
      .op<"first", "sum">([](big const& sum) { return sum[0]; });
}

struct address_taker {
  big const** sum;
  float const** first;
  auto before_run(auto&) const { return run_args{fetch<"sum">, fetch<"first">}; }
  void after_run(auto&, auto const& values) const {
    *sum = &values[fetch<"sum">];
    *first = &values[fetch<"first">];
  }
};

TEST_CASE("hooks and callers look at the graph's own values") {
  big const* sum[2] = {};
  float const* first[2] = {};
  auto session =
      monitored(big_graph(), address_taker{&sum[0], &first[0]}, address_taker{&sum[1], &first[1]});
  for (auto const& step : session.steps(fetch<"sum">)) {
    CHECK(&step[fetch<"sum">] == sum[0]);
    break;
  }
  CHECK(sum[0] != nullptr);
  CHECK(sum[0] == sum[1]);
  CHECK(first[0] == first[1]);
  CHECK(sum[0] == &session.raw()[fetch<"sum">]);
  CHECK(first[0] == &session.raw()[fetch<"first">]);
}

TEST_CASE("a result copies small values and refers to large ones") {
  big const zeros{};
  big ones;
  ones.fill(1);
  auto session = monitored(big_graph(), stop_after{100});
  auto const before = session.run(fetch<"sum">, fetch<"first">);
  CHECK(&before[fetch<"sum">] == &session.raw()[fetch<"sum">]);
  CHECK(&before.get<"first">() != &session.raw()[fetch<"first">]);
  CHECK(before[fetch<"first">] == 0.0f);
  CHECK(before[fetch<"sum">] == zeros);
  auto const after = session.run(fetch<"first">, feed<"offset">(ones));
  CHECK(before[fetch<"first">] == 0.0f);  // a copy stays
  CHECK(before[fetch<"sum">] == ones);    // a reference sees the next run
  CHECK(after[fetch<"first">] == 1.0f);
}

// --- feeds -----------------------------------------------------------------------------------------------------------

TEST_CASE("a feed holds for its run; then the default is back") {
  counts of;
  auto session = monitored(small_graph(of), stop_after{100});
  CHECK(session.run(fetch<"loss">, feed<"bias">(10.0f))[fetch<"loss">] == 11.0f);
  CHECK(session.run(fetch<"loss">)[fetch<"loss">] == 1.5f);
  CHECK(session.evaluate(fetch<"loss">, feed<"bias">(20.0f))[fetch<"loss">] == 21.0f);
  CHECK(session.raw()[fetch<"bias">] == 0.5f);
  CHECK(session.raw().run(fetch<"loss">, feed<"bias">(30.0f))[fetch<"loss">] == 31.0f);
  CHECK(session.evaluate(fetch<"loss">)[fetch<"loss">] == 1.5f);
}

struct rare_feeder {
  step_number at;
  float value;
  auto before_run(auto& ctx) const { return ask_if(ctx.step() == at, feed<"bias">(value)); }
};

TEST_CASE("a feed under a condition feeds in the runs where it holds") {
  counts of;
  auto session = monitored(small_graph(of), rare_feeder{2, 3.0f}, rare_feeder{3, 5.0f});
  CHECK(session.run(fetch<"loss">)[fetch<"loss">] == 1.5f);
  CHECK(session.run(fetch<"loss">)[fetch<"loss">] == 4.0f);
  CHECK(session.run(fetch<"loss">)[fetch<"loss">] == 6.0f);
  CHECK(session.run(fetch<"loss">)[fetch<"loss">] == 1.5f);
}

TEST_CASE("two hooks that feed one name in one run are an error that names both, also if the values are equal") {
  counts of;
  auto session = monitored(small_graph(of), named<"left">(rare_feeder{2, 3.0f}), named<"right">(rare_feeder{2, 3.0f}));
  CHECK(session.run());
  CHECK_THROWS_AS((void)session.run(), tautline::feed_conflict_error);
  std::string const words = written(session.status());
  CHECK(words.find("left") != std::string::npos);
  CHECK(words.find("right") != std::string::npos);
  CHECK(words.find("bias") != std::string::npos);
  CHECK(session.status().step == 2);
  CHECK_FALSE(session.is_open());
}

TEST_CASE("the caller and a hook that feed one name in one run are an error that names both") {
  counts of;
  auto session = monitored(small_graph(of), named<"left">(rare_feeder{2, 3.0f}));
  CHECK(session.run(feed<"bias">(1.0f)));
  CHECK_THROWS_AS((void)session.run(feed<"bias">(1.0f)), tautline::feed_conflict_error);
  std::string const words = written(session.status());
  CHECK(words.find("left") != std::string::npos);
  CHECK(words.find("the caller") != std::string::npos);
  CHECK(words.find("bias") != std::string::npos);
}

TEST_CASE("feeds of one name by turns are no conflict, nor are those of hooks that do not see the run") {
  counts of;
  auto session = monitored(small_graph(of), named<"left">(rare_feeder{1, 3.0f}), named<"right">(rare_feeder{2, 4.0f}));
  CHECK(session.run(fetch<"loss">)[fetch<"loss">] == 4.0f);
  CHECK(session.run_with<"left">(fetch<"loss">, feed<"bias">(7.0f))[fetch<"loss">] == 8.0f);
}

struct offset_feeder {
  big const* offset;
  big const** seen;
  auto before_run(auto&) const { return run_args{feed<"offset">(*offset), fetch<"offset">}; }
  void after_run(auto&, auto const& values) const { *seen = &values[fetch<"offset">]; }
};

TEST_CASE("a large feed goes by reference") {
  big ones;
  ones.fill(1);
  big const* seen = nullptr;
  {
    auto session = monitored(big_graph(), offset_feeder{&ones, &seen});
    CHECK(session.run(fetch<"first">)[fetch<"first">] == 1.0f);
    CHECK(seen == &ones);
    CHECK(session.evaluate(fetch<"first">)[fetch<"first">] == 0.0f);
  }
  auto session = monitored(big_graph(), stop_after{100});
  (void)session.run(fetch<"first">, feed<"offset">(ones));
  CHECK(&session.raw()[fetch<"offset">] != &ones);
}

/// Ends when it is told to.
auto ending_graph(bool const& ended) {
  return static_graph{}
      .placeholder<"offset">(big{})
      .source<"x">(0.0f, [&ended](float& x) { return x = 1, !ended; })
      .op<"first", "x", "offset">([](float x, big const& offset) { return x * offset[0]; });
}

TEST_CASE("a feed is forgotten, too, when its run meets the end of the input") {
  big ones;
  ones.fill(1);
  bool ended = true;
  auto session = monitored(ending_graph(ended), stop_after{100});
  SUBCASE("in evaluate") { CHECK(session.evaluate(fetch<"first">, feed<"offset">(ones)).end_of_input()); }
  SUBCASE("in a raw run") { CHECK(session.raw().run(fetch<"first">, feed<"offset">(ones)).end_of_input()); }
  SUBCASE("in a run") { CHECK(session.run(fetch<"first">, feed<"offset">(ones)).end_of_input()); }
  ended = false;
  CHECK(session.evaluate(fetch<"first">)[fetch<"first">] == 0.0f);
  CHECK(&session.raw()[fetch<"offset">] != &ones);
}

TEST_CASE("a feed is forgotten, too, when its raw run fails") {
  big ones;
  ones.fill(1);
  bool fails = true;
  auto session = monitored(static_graph{}.placeholder<"offset">(big{}).op<"first", "offset">([&](big const& offset) {
    if (fails) throw tautline::internal_error("broken");
    return offset[0];
  }),
                           stop_after{100});
  CHECK_THROWS((void)session.raw().run(fetch<"first">, feed<"offset">(ones)));
  fails = false;
  CHECK(session.evaluate(fetch<"first">)[fetch<"first">] == 0.0f);
}

// --- looks without a step --------------------------------------------------------------------------------------------

TEST_CASE("evaluate is no step, and no hook sees it") {
  counts of;
  lines seen;
  auto session = monitored(small_graph(of), even_asker{&seen});
  (void)session.run(target<"train">);
  seen.clear();
  CHECK(session.evaluate(fetch<"loss">)[fetch<"loss">] == 2.5f);
  CHECK(session.completed_steps() == 1);
  CHECK(seen.empty());
  CHECK(of.train == 1);
  session.request_stop();
  CHECK(session.evaluate(fetch<"loss">));  // also after a stop
  session.close();
  CHECK_THROWS_AS((void)session.evaluate(fetch<"loss">), tautline::run_after_stop_error);
}

TEST_CASE("run_without_hooks is a step that no hook sees; run_with is one that the named ones see") {
  counts of;
  lines seen;
  lines other;
  auto session = monitored(small_graph(of), named<"even">(even_asker{&seen}), optional_asker{&other});
  CHECK(session.run_without_hooks(target<"train">, fetch<"loss">)[fetch<"loss">] == 1.5f);
  CHECK(session.completed_steps() == 1);
  CHECK(seen.empty());
  (void)session.run_with<"even">(target<"train">);
  CHECK(joined(seen) == "2 loss=2.5\n");
  CHECK(other.empty());
  (void)session.run_with<optional_asker>(target<"train">);
  CHECK(joined(other) == "3 nothing\n");
  CHECK(seen.size() == 1);
  (void)session.run_with<optional_asker, even_asker>(target<"train">);
  CHECK(seen.size() == 2);
  CHECK(other.size() == 2);
}

// --- values that hooks publish ---------------------------------------------------------------------------------------

/// Publishes the loss of every second run.
struct publisher {
  using provides = tautline::provides<"smooth", float>;
  auto before_run(auto&) const { return fetch<"loss">; }
  void after_run(auto& ctx, auto const& values) const {
    if (ctx.step() % 2 == 0) ctx.template publish<"smooth">(values[fetch<"loss">] * 100);
  }
};
struct consumer {
  lines* seen;
  auto before_run(auto&) const { return run_args{fetch<"smooth">, fetch<"loss">}; }
  void after_run(auto& ctx) const { seen->push_back(number(ctx.step()) + " nothing"); }
  void after_run(auto& ctx, auto const& values) const {
    seen->push_back(number(ctx.step()) + " smooth=" + number(values[fetch<"smooth">]));
  }
};

TEST_CASE("a published value reaches the hooks that ask for it, whatever the order of the arguments") {
  counts of;
  lines seen;
  lines const expected = {"1 nothing", "2 smooth=250", "3 nothing", "4 smooth=450"};
  SUBCASE("the consumer first") {
    auto session = monitored(small_graph(of), consumer{&seen}, publisher{});
    (void)session.run_steps(4, target<"train">);
  }
  SUBCASE("the provider first") {
    auto session = monitored(small_graph(of), publisher{}, consumer{&seen});
    (void)session.run_steps(4, target<"train">);
  }
  CHECK(joined(seen) == joined(expected));
}

TEST_CASE("the caller asks whether there is a publication") {
  counts of;
  auto session = monitored(small_graph(of), publisher{});
  auto const first = session.run(fetch<"smooth">);
  CHECK_FALSE(first.has(fetch<"smooth">));
  auto const second = session.run(fetch<"smooth">, fetch<"loss">);
  CHECK(second.has(fetch<"smooth">));
  CHECK(second.has(fetch<"loss">));
  CHECK(second[fetch<"smooth">] == 150.0f);
  CHECK_FALSE(session.run(fetch<"smooth">).has(fetch<"smooth">));
  CHECK_FALSE(session.run_without_hooks(fetch<"smooth">).has(fetch<"smooth">));  // the provider did not see it
  for (auto const& step : session.steps(fetch<"smooth">)) {
    CHECK(step.has(fetch<"smooth">) == (step.step() % 2 == 0));
    if (step.step() == 6) break;
  }
}

struct two_publisher {
  using provides = tautline::provides_all<tautline::provides<"a", int>, tautline::provides<"b", big>>;
  void after_run(auto& ctx) const {
    ctx.template publish<"a">(7);
    big made;
    made.fill(2);
    ctx.template publish<"b">(made);
  }
};
struct two_consumer {
  int* a;
  float* b;
  big const** address;
  auto before_run(auto&) const { return run_args{fetch<"a">, fetch<"b">}; }
  void after_run(auto&, auto const& values) const {
    *a = values[fetch<"a">];
    *b = values[fetch<"b">][3];
    *address = &values[fetch<"b">];
  }
};

TEST_CASE("a hook may provide several values, of any type") {
  counts of;
  int a = 0;
  float b = 0;
  big const* address = nullptr;
  auto session = monitored(small_graph(of), two_consumer{&a, &b, &address}, two_publisher{});
  auto const result = session.run(fetch<"b">);
  CHECK(a == 7);
  CHECK(b == 2.0f);
  CHECK(&result[fetch<"b">] == address);  // where it was published to
}

TEST_CASE("a publication is no fetch of the graph's") {
  world of;
  lines seen;
  auto session = monitored(backend{of}, publisher{}, consumer{&seen});
  CHECK(session.run(fetch<"smooth">));
  CHECK(joined(seen) == "1 nothing\n");
}

}  // namespace
