// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <limits>

#include <tautline/hooks/spike_checker.hpp>
#include <tautline/sessions/step_function.hpp>

#include "listed_graph.hpp"
#include "memory_store.hpp"
#include "support.hpp"

using namespace support;
using namespace tautline;
using support::target;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();

using values = std::vector<double>;
values flat(double value, int times, values const& then = {}) {
  values all(static_cast<std::size_t>(times), value);
  all.insert(all.end(), then.begin(), then.end());
  return all;
}

/// What the checker says of these values, and in which step; empty if nothing.
std::string verdict_on(values const& all, spike_limits limits = {}) {
  auto session = try_monitored(listed_graph(all), spike_checker<"loss">{on_nan::fail, limits});
  (void)session.try_run_to_completion(target<"train">);
  if (!session.status()) return "";
  CHECK(session.status().kind == error_kind::nan);
  CHECK(session.status().where == callback::gate);
  return written(session.status().message) + " in step " + std::to_string(session.status().step);
}

}  // namespace

TEST_CASE("nothing counts as a spike during the warm-up, then a leap does") {
  CHECK(verdict_on(flat(1, 49, {40})).empty());
  CHECK(verdict_on(flat(1, 50, {40})) == "loss is 40, far above its average of 1 in step 51");
  CHECK(verdict_on(flat(1, 3, {40}), {.warm_up = 3}) == "loss is 40, far above its average of 1 in step 4");
  CHECK(verdict_on({40}, {.warm_up = 0}).empty());  // there is no average yet
  CHECK(verdict_on({1, 40}, {.warm_up = 0}) == "loss is 40, far above its average of 1 in step 2");
}

TEST_CASE("limits that make no sense are refused before the first run") {
  auto const refused = [](spike_limits limits) {
    auto session = try_monitored(listed_graph({1}), spike_checker<"loss">{on_nan::fail, limits});
    return session.status().kind == error_kind::invalid_argument && session.status().where == callback::begin;
  };
  CHECK_FALSE(refused({.deviations = 0, .margin = 0, .decay = 0, .warm_up = 0}));
  CHECK_FALSE(refused({.decay = 1}));
  CHECK(refused({.decay = -0.1}));
  CHECK(refused({.decay = 1.1}));
  CHECK(refused({.decay = not_a_number}));
  CHECK(refused({.deviations = -1}));
  CHECK(refused({.margin = not_a_number}));
  CHECK(refused({.at_least = -1}));
  CHECK(refused({.warm_up = -1}));
}

TEST_CASE("a value that stands still may move within the margin, and falls are none") {
  CHECK(verdict_on(flat(5, 60, {5.4})).empty());
  CHECK(verdict_on(flat(5, 60, {5.6})) == "loss is 5.6, far above its average of 5 in step 61");
  CHECK(verdict_on(flat(1000, 50, {1101})) == "loss is 1101, far above its average of 1000 in step 51");  // no deviation from zero
  CHECK(verdict_on(flat(5, 60, {5.6}), {.margin = 0.2}).empty());
  CHECK(verdict_on(flat(5, 60, {-1000})).empty());
}

TEST_CASE("a value that stands at zero, and negative ones") {
  CHECK(verdict_on(flat(0, 60, {0.001})) == "loss is 0.001, far above its average of 0 in step 61");
  CHECK(verdict_on(flat(0, 60, {0.001}), {.at_least = 1}).empty());
  CHECK(verdict_on(flat(0, 60, {2}), {.at_least = 1}) == "loss is 2, far above its average of 0 in step 61");
  CHECK(verdict_on(flat(-10, 60, {-9.5})).empty());
  CHECK(verdict_on(flat(-10, 60, {-8.5})) == "loss is -8.5, far above its average of -10 in step 61");
}

TEST_CASE("what is not finite is one at once, and numbers without a difference do no harm") {
  CHECK(verdict_on({1, not_a_number}) == "loss is nan in step 2");
  CHECK(verdict_on({infinity}) == "loss is inf in step 1");
  CHECK(verdict_on({1, -infinity}) == "loss is -inf in step 2");
  CHECK(contains(verdict_on({-largest, largest}), "far above"));
  CHECK(verdict_on({largest, -largest, 1, 1}).empty());
}

TEST_CASE("noise and slow changes are none") {
  values noisy;
  for (int i = 0; i < 3000; ++i) noisy.push_back(3 * std::exp(-i / 500.0) + 0.3 * std::sin(i * 1.7) + 0.2 * std::sin(i * 0.31));
  CHECK(verdict_on(noisy).empty());
  noisy.push_back(30);
  CHECK(contains(verdict_on(noisy), "in step 3001"));
  values rising;
  for (int i = 0; i < 1000; ++i) rising.push_back(1 + 0.01 * i);
  CHECK(verdict_on(rising).empty());
}

TEST_CASE("spikes do not go into the averages") {
  memory_store with, without;
  values smooth;
  for (int i = 0; i < 80; ++i) smooth.push_back(1 + 0.1 * std::sin(i));
  values spiked = smooth;
  spiked.insert(spiked.begin() + 60, {50, not_a_number});
  for (auto const& [all, store] : {std::pair{&smooth, &without}, std::pair{&spiked, &with}}) {
    auto session = monitored(listed_graph(*all), spike_checker<"loss">::with(skip_at_most{2}), memory_saver{store, every_steps{}});
    (void)session.run_to_completion(target<"train">);
    CHECK(session.hook<basic_spike_checker<skip_at_most, "loss">>().skipped() == (all == &spiked ? 2 : 0));
  }
  int compared = 0;
  for (auto const& [name, value] : without.values) {
    if (contains(name, "/mean") || contains(name, "/deviation") || contains(name, "/seen")) {
      CHECK(with.values.at(name).bytes == value.bytes);
      ++compared;
    }
  }
  CHECK(compared == 3);
  CHECK(with.get<double>("variable/w") == without.get<double>("variable/w"));
}

TEST_CASE("its averages are resumed to the bit") {
  values all;
  for (int i = 0; i < 70; ++i) all.push_back(1 + 0.1 * std::sin(i));
  memory_store whole, parts;
  {
    auto session = monitored(listed_graph(all), spike_checker<"loss">{}, memory_saver{&whole, every_steps{}});
    (void)session.run_to_completion(target<"train">);
  }
  for (int i = 0; i < 2; ++i) {
    auto session = monitored(listed_graph(all), options{restore_from{parts}}, spike_checker<"loss">{}, memory_saver{&parts, every_steps{}});
    (void)session.run_steps(i == 0 ? 33 : 100, target<"train">);
    session.abandon();
  }
  CHECK(whole.values.size() == parts.values.size());
  for (auto const& [name, value] : whole.values) CHECK(parts.values.at(name).bytes == value.bytes);
}

TEST_CASE("begin forgets the averages") {
  spike_checker<"loss"> hook{on_nan::fail, {.warm_up = 5}};
  for (double const level : {1.0, 100.0}) {
    auto session = try_monitored(listed_graph(flat(level, 8)), std::ref(hook));
    (void)session.try_run_to_completion(target<"train">);
    CHECK_FALSE(session.status());
  }
}

TEST_CASE("averages over all values") {
  CHECK(verdict_on(flat(1, 500, flat(1.05, 500, {1.2})), {.decay = 1}) == "loss is 1.2, far above its average of 1.025 in step 1001");
}

TEST_CASE("going back with a smaller rate") {
  memory_store store;
  auto session = try_monitored(listed_graph(flat(1, 12, {9})), options{restore_from{store}},
                               spike_checker<"loss">::with(roll_back_at_most{2, 0.5}, {.warm_up = 5}), memory_saver{&store, every_steps{5}});
  CHECK(session.try_run_to_completion(target<"train">).error == error_kind::nan);
  auto& hook = session.hook<basic_spike_checker<roll_back_at_most<>, "loss">>();
  CHECK(hook.rolled_back() == 2);
  CHECK(hook.rate_scale() == 0.25);
  CHECK(store.restores == 2);
}

TEST_CASE("stopping, and a session that cannot stage a run: it looks behind the update") {
  int step = 0;
  auto session = monitored(step_function([&] { return value<"loss">(++step == 9 ? 7.0F : 1.0F); }),
                           spike_checker<"loss">{on_nan::stop, {.warm_up = 4}});
  (void)session.run_to_completion();
  CHECK(session.completed_steps() == 9);
  CHECK(written(session.stop().reason) == "loss is 7, far above its average of 1");
  auto failing = try_monitored(step_function([] { return value<"loss">(std::numeric_limits<float>::quiet_NaN()); }), spike_checker<"loss">{});
  CHECK(failing.try_run().error() == error_kind::nan);
  CHECK(failing.status().where == callback::after_run);
}

TEST_CASE("several of them, in a session that must not wait") {
  auto session = monitored(listed_graph(flat(1, 9, {3})), options{real_time{}},
                           spike_checker<"loss">{on_nan::stop, {.deviations = 1e9, .at_least = 5, .warm_up = 4}},
                           named<"half">(spike_checker<"half">{on_nan::stop, {.warm_up = 4}}));
  (void)session.run_to_completion(target<"train">);
  CHECK(written(session.stop().reason) == "half is 1.5, far above its average of 0.5");
}
