// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"

#include <tautline/hooks/script.hpp>
#include <tautline/sessions/static_graph.hpp>

// Scripts: bodies that wait for runs. They go on at the right steps, speak to the session, are destroyed on every way
// out, and are found again as they were.

namespace {

using namespace tautline;
using support::scripted;
using support::stop_after;
using support::world;

std::string said;  // what bodies say: they take nothing but their context
void say(std::string const& words) { said += (said.empty() ? "" : " ") + words; }
std::string taken() { return std::exchange(said, ""); }

/// In a frame, to see when that is destroyed.
struct guard {
  char const* name;
  explicit guard(char const* given) : name(given) { say(std::string("+") + name); }
  guard(guard const&) = delete;
  guard& operator=(guard const&) = delete;
  ~guard() { say(std::string("-") + name); }
};

double itself(long run) { return static_cast<double>(run); }

using loss_context = script_context<value_of<"loss", double>>;

/// Not in the bodies: without optimisation clang keeps the strings of a statement in the frame.
void say_value(step_number step, double value) { say(std::to_string(step) + ":" + support::number(value)); }

script_body show_values(loss_context life) {
  guard const inside("f");
  for (;;) {
    double const loss = co_await life.next_value();
    say_value(life.step(), loss);
  }
}

TEST_CASE("a body starts in begin, and goes on after each run, until close") {
  world of;
  {
    auto session = monitored(scripted(of, itself), script<&show_values>{});
    CHECK(taken() == "+f");
    (void)session.run_steps(3, target<"train">);
    CHECK(taken() == "1:1 2:2 3:3");
    session.close();
    CHECK(taken() == "-f");
  }
  CHECK(taken().empty());
}

TEST_CASE("with a trigger it is resumed when due, and values are asked for then, only") {
  world of;
  auto session = monitored(scripted(of, itself), script<&show_values>::with(every_steps{3}), stop_after{7});
  (void)session.run_to_completion();
  session.close();
  CHECK(taken() == "+f 3:3 6:6 -f");
  CHECK(support::count(of.trace, "run 3 loss") == 1);
  CHECK(support::count(of.trace, "run 4") == 1);
}

TEST_CASE("resumed in a period, and with any_trigger") {
  world of;
  of.first_step = 7;
  auto session = monitored(scripted(of, itself), script<&show_values>::with(any_trigger(every_steps{5})), stop_after{16});
  (void)session.run_to_completion();
  session.close();
  CHECK(taken() == "+f 10:3 15:8 -f");
}

script_body three_phases(loss_context life) {
  guard const inside("f");
  double const first = co_await life.next_value();
  step_number const second = co_await life.next_step();
  say(support::number(first) + "," + std::to_string(second));
  co_await life.next_end();
  say("end:" + std::to_string(life.step()));
}

TEST_CASE("what a body waits for: a value, a step, the end; a value is asked for in its run, only") {
  world of;
  auto session = monitored(scripted(of, itself), script<&three_phases>{}, stop_after{4});
  (void)session.run_to_completion();
  CHECK(!session.hook<script<&three_phases>>().done());
  session.close();
  CHECK(taken() == "+f 1,2 end:4 -f");
  CHECK(session.hook<script<&three_phases>>().done());
  CHECK(support::count(of.trace, "run 1 loss") == 1);
  CHECK(support::count(of.trace, "run 2") == 1);
  CHECK(support::count(of.trace, "run 3") == 1);
}

script_body plateau(loss_context life) {
  double best = co_await life.next_value();
  int waited = 0;
  while (waited < 2) {
    double const loss = co_await life.next_value();
    if (loss < best) {
      best = loss;
      waited = 0;
    } else {
      ++waited;
    }
  }
  life.request_stop({"no better than {}", best});
}

TEST_CASE("a body that returns is done: it asks for nothing more") {
  world of;
  auto const values = [](long run) { return run < 5 ? 10.0 - static_cast<double>(run) : 6.0; };
  auto session = monitored(scripted(of, values), script<&plateau>{});
  (void)session.run_to_completion();
  CHECK(support::described(session.stop()) == "stop by script<plateau> at 6: no better than 6");

  CHECK(session.hook<script<&plateau>>().done());
}

script_body one_value(loss_context life) {
  double const loss = co_await life.next_value();
  say(support::number(loss));
}
TEST_CASE("after the body's return no value is fetched for it") {
  world of;
  auto session = monitored(scripted(of, itself), script<&one_value>{});
  (void)session.run_steps(3, target<"train">);
  CHECK(taken() == "1");
  CHECK(support::count(of.trace, "run 1 loss") == 1);
  CHECK(support::count(of.trace, "run 2") == 1);
}

script_body nan_watch(loss_context life) {
  double last = co_await life.next_value();
  while (!std::isnan(last)) last = co_await life.next_value();
  life.fail(error_kind::nan, "the loss is nan");
}
TEST_CASE("a NaN arrives as it is; fail is an error of the script") {
  world of;
  auto session =
      try_monitored(scripted(of, [](long run) { return run == 3 ? std::nan("") : 1.0; }), script<&nan_watch>{});
  (void)session.try_run_to_completion();
  CHECK(support::written(session.status()) == "the loss is nan (nan, hook script<nan_watch>, after_run, step 3)");
}

script_body stop_at_once(script_context<> life) {
  step_number const step = life.step();
  life.request_stop({"at {}", step});
  co_return;
}
TEST_CASE("a stop in begin, by a script that waits for nothing") {
  world of;
  auto session = monitored(scripted(of), script<&stop_at_once>{});
  CHECK(session.run_to_completion().steps == 0);
  CHECK(support::described(session.stop()) == "stop by script<stop_at_once> at no step: at 0");
}

// --- several values, feeding, publishing ----------------------------------------------------------------------------

auto graph() {
  return static_graph{}
      .variable<"w">(0.0F)
      .placeholder<"rate">(1.0F)
      .op<"big", "w">([](float w) { return std::array<float, 20>{w}; })
      .update<"train", "w", "rate">([](float& w, float rate) { w += rate; });
}

script_body two_values(script_context<value_of<"w", float>, value_of<"big", std::array<float, 20>>> life) {
  int const runs = 2;
  for (int i = 0; i < runs; ++i) {
    auto const values = co_await life.next_value();
    say(support::number(values[fetch<"w">]) + "/" + support::number(values.get<"big">()[0]));
  }
}
TEST_CASE("several values come as a view by name, whatever their size") {
  auto session = monitored(graph(), script<&two_values>{});
  (void)session.run_steps(3, target<"train">);
  CHECK(taken() == "1/0 2/1");
}

script_body warm_up(script_context<feed_of<"rate", float>, provides<"fed", double>> life) {
  float rate = 0;
  for (int i = 0; i < 3; ++i) {
    life.feed<"rate">(rate += 10);
    life.publish<"fed">(static_cast<double>(rate));
    step_number const step = co_await life.next_step();
    say(std::to_string(step));
  }
  life.stop_feeding<"rate">();
  step_number const last = co_await life.next_step();
  life.feed<"rate">(static_cast<float>(last));
  (void)co_await life.next_step();
}
struct fed_reader {
  auto before_run(auto&) { return fetch<"fed">; }
  void after_run(auto& ctx, auto& values) { say("fed:" + std::to_string(ctx.step()) + "," + support::number(values[fetch<"fed">])); }
};
TEST_CASE("what a script feeds stays fed until it says otherwise, or ends; what it publishes reaches others") {
  auto session = monitored(graph(), fed_reader{}, script<&warm_up>{});
  std::string weights;
  for (auto const& step : session.steps(target<"train">, fetch<"w">)) {
    weights += support::number(step[fetch<"w">]) + " ";
    if (step.step() == 6) break;
  }
  CHECK(weights == "10 30 60 61 65 66 ");  // 10, 20, 30, then 1, 4, and 1 again as the body is over
  CHECK(taken() == "1 fed:1,20 2 fed:2,30 3");
}

TEST_CASE("a fed name of another party is the conflict that it always is") {
  auto session = try_monitored(graph(), script<&warm_up>{});
  CHECK(session.try_run(target<"train">, feed<"rate">(2.0F)).error() == error_kind::feed_conflict);
  (void)taken();
}

// --- every way out --------------------------------------------------------------------------------------------------

TEST_CASE("the frame is destroyed when the session is left early, when an error ends it, and when begin comes again") {
  {
    world of;
    auto session = monitored(scripted(of, itself), script<&show_values>{});
    (void)session.run(target<"train">);
  }
  CHECK(taken() == "+f 1:1 -f");
  {
    world of;
    of.in_run = [](long) { return tautline::status{error_kind::internal, "gone"}; };
    auto session = try_monitored(scripted(of, itself), script<&show_values>{});
    (void)session.try_run(target<"train">);
    CHECK(taken() == "+f -f");
  }
  {
    script<&show_values> hook;
    for (int i = 0; i < 2; ++i) {
      world of;
      auto session = monitored(scripted(of, itself), std::ref(hook));
      (void)session.run(target<"train">);
      CHECK(hook.frame_bytes_used() > 0);
      CHECK(hook.frame_bytes_used() <= hook.frame_capacity);
    }
    CHECK(taken() == "+f 1:1 -f +f 1:1 -f");
  }
  {
    script<&show_values> never_begun;
    auto moved = std::move(never_begun);
    CHECK(moved.frame_bytes_used() == 0);
  }
  CHECK(taken().empty());
}

TEST_CASE("a script that is not resumable goes on over a recovery") {
  world of;
  of.in_run = support::broken_in(3);
  auto session = monitored(scripted(of, itself), script<&show_values>{}, stop_after{3});
  (void)session.run_to_completion();
  session.close();
  CHECK(taken() == "+f 1:1 2:2 1:4 2:5 3:6 -f");
}

script_body large_frame(loss_context life) {
  double volatile all[60];
  for (double volatile& one : all) one = co_await life.next_value();
  say(support::number(static_cast<double>(all[59])));
}
TEST_CASE("a frame fits if it is given the memory") {
  world of;
  auto session = monitored(scripted(of, itself), script<&large_frame, frame_bytes<1024>>{});
  (void)session.run_steps(60, target<"train">);
  CHECK(taken() == "60");
}
#if !defined(__OPTIMIZE__) || defined(__clang__)
// g++ refuses this when it optimizes.
TEST_CASE("a frame that does not fit is the error frame_too_small in begin, never the heap") {
  world of;
  auto session = try_monitored(scripted(of, itself), script<&large_frame>{});
  CHECK(session.status().kind == error_kind::frame_too_small);
  CHECK(session.status().where == callback::begin);
}
#endif

#if TAUTLINE_EXCEPTIONS
script_body throws_in_begin(loss_context life) {
  guard const inside("f");
  if (life.step() == 0) throw aborted_error("in begin");
  (void)co_await life.next_value();
}
script_body throws_in_after_run(loss_context life) {
  guard const inside("f");
  double const loss = co_await life.next_value();
  if (loss > 0) throw std::pair<int, int>(1, 2);
}
script_body throws_in_end(loss_context life) {
  guard const inside("f");
  co_await life.next_end();
  throw 3;
}
TEST_CASE("an exception of the body is an error of the hook, in the callback in which it was resumed; its type is kept") {
  world of;
  CHECK(support::outcome_of([&] { (void)monitored(scripted(of), script<&throws_in_begin>{}); }) == "threw aborted");
  CHECK(taken() == "+f -f");
  auto session = monitored(scripted(of), script<&throws_in_after_run>{});
  CHECK_THROWS_AS((void)session.run(target<"train">), std::pair<int, int>);
  CHECK(session.status().where == callback::after_run);
  CHECK(taken() == "+f -f");
  auto ending = monitored(scripted(of), script<&throws_in_end>{});
  (void)ending.run(target<"train">);
  CHECK_THROWS_AS(ending.close(), int);
  CHECK(ending.status().where == callback::end);
  CHECK(taken() == "+f -f");
}
#endif

// --- state ----------------------------------------------------------------------------------------------------------

struct progress {
  double best = 1e9;
  int waited = 0;
  auto state() { return fields{field<"best">(best), field<"waited">(waited)}; }
};
void say_progress(progress const& kept) { say(support::number(kept.best) + "/" + std::to_string(kept.waited)); }

script_body patient(script_context<value_of<"loss", double>, state_of<progress>> life) {
  progress& kept = life.state<progress>();
  guard const inside("f");
  while (kept.waited < 4) {
    double const loss = co_await life.next_value();
    kept.waited = loss < kept.best ? 0 : kept.waited + 1;
    kept.best = std::min(kept.best, loss);
    say_progress(kept);
  }
  life.request_stop("patience");
}

/// Keeps the state of a training in a vector, and puts it back.
struct memory_store {
  std::vector<std::pair<std::string, std::vector<unsigned char>>> items;
  step_number step = 0;

  void keep(training_state const& state) {
    items.clear();
    step = state.step();
    state.each([&](state_item const& item) {
      char name[160];
      item.write_name(name, sizeof name);
      auto const* from = static_cast<unsigned char const*>(item.view.data);
      items.emplace_back(name, std::vector<unsigned char>(from, from + item.view.bytes()));
    });
  }
  restored restore(training_state const& state) {
    if (items.empty()) return {};
    std::size_t at = 0;
    state.each([&](state_item const& item) {
      std::copy(items[at].second.begin(), items[at].second.end(), static_cast<unsigned char*>(item.view.data));
      ++at;
    });
    return {{}, true, step};
  }
};
struct keeper {
  using category = saver;
  static constexpr bool stateless = true;
  memory_store* store;
  step_number at;
  bool save_now = false;
  void after_run(auto& ctx) { save_now = ctx.step() == at; }
  [[nodiscard]] bool wants_save() const { return save_now; }
  void save(training_state const& state, life&) { store->keep(state), save_now = false; }
};

struct stop_at : stop_after {
  static constexpr bool stateless = true;
};

auto weights() {
  return static_graph{}
      .variable<"n">(0)
      .op<"loss", "n">([](int n) { return static_cast<double>(n < 5 ? 10 - n : 6 + n % 2); })
      .update<"train", "n">([](int& n) { ++n; });
}

TEST_CASE("a resumable script: N, a restore, and M more steps are N+M steps") {
  static_assert(script<&patient>::resumable && lists_state<script<&patient>> && !stateless<script<&patient>>);
  memory_store store;
  auto whole = monitored(weights(), script<&patient>{});
  (void)whole.run_to_completion(target<"train">);
  whole.close();
  std::string const expected = taken();
  step_number const last = whole.stop().step;
  CHECK(last == 9);
  for (step_number cut = 1; cut < last; ++cut) {
    CAPTURE(cut);
    store.items.clear();
    {
      auto first = monitored(weights(), options{restore_from{store}}, keeper{&store, cut}, script<&patient>{});
      (void)first.run_steps(cut, target<"train">);
    }
    auto second = monitored(weights(), options{restore_from{store}}, keeper{&store, 99}, script<&patient>{});
    (void)second.run_steps(20, target<"train">);
    second.close();
    std::string joined = taken();
    std::size_t const at = joined.find(" -f +f");
    REQUIRE(at != std::string::npos);
    joined.erase(at, 6);
    CHECK(joined == expected);
    CHECK(second.stop().step == last);
  }
  {
    auto finished = monitored(weights(), options{restore_from{store}}, keeper{&store, last}, script<&patient>{});
    (void)finished.run_steps(20, target<"train">);
    taken();
    auto after = monitored(weights(), options{restore_from{store}}, keeper{&store, 99}, script<&patient>{});
    CHECK(after.hook<script<&patient>>().done());
    (void)after.run_steps(2, target<"train">);
    CHECK(taken().empty());  // what has returned is not started again
  }
  std::vector<std::string> names;
  for (auto const& item : store.items) names.push_back(item.first);
  CHECK(std::find(names.begin(), names.end(), "hook/script<patient>/data/best") != names.end());
  CHECK(std::find(names.begin(), names.end(), "hook/script<patient>/finished") != names.end());
}

TEST_CASE("after a recovery with a checkpoint a resumable script is started anew, with the data of then") {
  memory_store store;
  world of;
  of.in_run = support::broken_in(4);
  auto session = monitored(scripted(of, [](long run) { return 20.0 - static_cast<double>(run); }),
                           options{restore_from{store}}, keeper{&store, 2}, script<&patient>{}, stop_at{4});
  (void)session.run_to_completion();
  session.close();
  CHECK(taken() == "+f 19/0 18/0 17/0 -f +f 15/0 14/0 -f");
}

TEST_CASE("a second training begins with fresh data") {
  script<&patient> hook;
  std::string texts[2];
  for (std::string& text : texts) {
    auto session = monitored(weights(), std::ref(hook));
    (void)session.run_to_completion(target<"train">);
    session.close();
    text = taken();
  }
  CHECK(texts[0] == texts[1]);
}

script_body two_states(script_context<state_of<int>, state_of<std::array<float, 2>>> life) {
  int& runs = life.state<int>();
  for (;;) {
    (void)co_await life.next_step();
    life.state<std::array<float, 2>>()[1] = static_cast<float>(++runs);
  }
}
script_body count_steps(script_context<> life) {
  int steps = 0;
  while (steps >= 0) {
    (void)co_await life.next_step();
    ++steps;
  }
}
TEST_CASE("a script without a state says that it need not be resumed, or says nothing; states may be several") {
  static_assert(!script<&plateau>::resumable && !lists_state<script<&plateau>> && !stateless<script<&plateau>>);
  static_assert(stateless<script<&plateau, not_resumable>>);
  memory_store store;
  world of;
  auto session = monitored(weights(), options{restore_from{store}}, keeper{&store, 3}, script<&two_states>{},
                           script<&count_steps, not_resumable>{});
  (void)session.run_steps(3, target<"train">);
  std::vector<std::string> names;
  for (auto const& item : store.items) names.push_back(item.first);
  CHECK(std::find(names.begin(), names.end(), "hook/script<two_states>/data") != names.end());
  CHECK(std::find(names.begin(), names.end(), "hook/script<two_states>/data#2") != names.end());
}

// --- other spellings ------------------------------------------------------------------------------------------------

TEST_CASE("a lambda without captures is a function, too; two scripts of one function, by name") {
  world of;
  auto session = monitored(scripted(of, itself), script<[](loss_context life) -> script_body {
                             double const loss = co_await life.next_value();
                             say("lambda:" + support::number(loss));
                           }>{},
                           named<"a">(script<&one_value>{}), named<"b">(script<&one_value>::with(at_steps{2})));
  (void)session.run_steps(2, target<"train">);
  CHECK(taken() == "lambda:1 1 2");
  CHECK(session.hook<"a">().done());
}

}  // namespace
