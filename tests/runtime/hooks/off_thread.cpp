// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <thread>

#include <tautline/hooks/off_thread.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "support.hpp"

using namespace support;
using namespace std::chrono_literals;
using tautline::at_end;
using tautline::every_steps;
using tautline::monitored;
using tautline::off_thread;
using tautline::off_thread_with;
using tautline::options;
using tautline::real_time;
using tautline::static_graph;
using tautline::stop_at_step;
using tautline::try_monitored;

namespace {

struct seen {
  lines said;
  std::thread::id thread;
  std::atomic<bool> stuck{false};
  std::atomic<bool> inside{false};
  std::atomic<int> told{0};
};
void wait_while(seen& at) {
  at.inside = true;
  while (at.stuck) std::this_thread::sleep_for(100us);
  at.inside = false;
}

/// A logger with a trigger, of any number of values.
struct logger {
  static constexpr bool stateless = true;
  every_steps trigger{1};
  std::shared_ptr<seen> to;
  void begin(auto&) const { to->said.push_back("begin"); }
  void after_create_session(auto&) const { to->said.push_back("created"); }
  auto before_run(auto& ctx) const noexcept { return tautline::ask_if(ctx.due(), fetch<"loss">, fetch<"epoch">); }
  void after_run(auto& ctx, auto const& values) const {
    wait_while(*to);
    to->thread = std::this_thread::get_id();
    std::string line = number(ctx.step()) + (ctx.due() ? " due" : "");
    values.each([&](char const* name, double value) { line += std::string(" ") + name + " " + number(value); });
    line += values[fetch<"loss">] == values.template get<"epoch">() && values.has(fetch<"loss">) ? "" : " torn";
    to->said.push_back(line);
    ++to->told;
  }
  void after_run(auto& ctx) const { to->said.push_back(number(ctx.step())); }
  void end(auto& session) const { to->said.push_back("end " + number(session.step())); }
  void on_error(tautline::error const& happened) const { to->said.push_back(std::string("error ") + to_string(happened.kind)); }
  void close() const { to->said.push_back("close"); }
};

/// Does something in the run of one step.
struct acting {
  step_number when = 2;
  int what = 0;
  std::shared_ptr<seen> to = std::make_shared<seen>();
  void after_run(auto& ctx) const {
    if (ctx.step() != when) return;
    if (what == 0) ctx.request_stop({"enough at {}", static_cast<double>(when)});
    if (what == 1) {
      char const words[] = {'g', 'o', 'n', 'e', 0};
      ctx.request_stop(tautline::copied{words});
    }
    if (what == 2) ctx.fail(error_kind::unavailable, "no network");
#if TAUTLINE_EXCEPTIONS
    if (what == 3) throw std::domain_error("no disk");
    if (what == 4) throw tautline::nan_error("a nan");
#endif
  }
  void end(auto&) const { to->said.push_back("end"); }
  void close() const { to->said.push_back("close"); }
};

struct counter {
  int count = 0;
  auto state() { return tautline::fields{tautline::field<"count">(count)}; }
  void after_run(auto&) {
    std::this_thread::sleep_for(200us);
    ++count;
  }
};
/// Saves in every step what the state then is.
struct toy_saver {
  using category = tautline::saver;
  static constexpr bool stateless = true;
  std::vector<int>* saved;
  void after_run(auto&) const {}
  static bool wants_save() { return true; }
  void save(tautline::training_state const& state, life&) const {
    state.each([&](tautline::state_item const& item) {
      if (std::string(item.field) == "count") saved->push_back(*static_cast<int const*>(item.view.data));
    });
  }
};
struct related {
  using runs_before = tautline::hooks<toy_saver>;
  using category = tautline::check;
  using tags = tautline::hooks<seen>;
  static constexpr bool outermost = true;
  void after_run(auto&) {}
};

struct array_reader {
  std::shared_ptr<std::vector<float>> to;
  static auto before_run(auto&) noexcept { return fetch<"copy">; }
  void after_run(auto&, auto const& values) const { to->push_back(values[fetch<"copy">][39]); }
};
/// Fails in one of the callbacks of the session's thread.
struct failing {
  std::function<void(callback)> act;
  void begin(auto&) const { act(callback::begin); }
  void after_create_session(auto&) const { act(callback::after_create_session); }
  void after_run(auto&) const {}
  void end(auto&) const { act(callback::end); }
  void close() const { act(callback::close); }
};

/// Goes at most so far, and waits now and then so that a worker on another core has a chance.
auto slow_graph() {
  return static_graph{}.variable<"w">(0.0F).op<"loss", "w">([](float w) { return w; }).update<"train", "w">([](float& w) {
    w += 1;
    std::this_thread::sleep_for(50us);
  });
}
/// Its worker may stand still for some seconds: all is written all the same.
tautline::background_options const in_full{.linger = 60s};

scripted numbered(world& of) {
  return scripted(of, [](long run) { return static_cast<double>(run); });
}

}  // namespace

TEST_CASE("values are copied in the step and told on another thread, all else on the session's") {
  auto const to = std::make_shared<seen>();
  world of;
  {
    auto session = monitored(numbered(of), off_thread{logger{.trigger = {.period = 2}, .to = to}, in_full});
    (void)session.run_steps(4);
  }
  CHECK(to->said == lines{"begin", "created", "1", "2 due loss 2 epoch 2", "3", "4 due loss 4 epoch 4", "end 4", "close"});
  CHECK(to->thread != std::this_thread::get_id());
  CHECK(count(of.trace, "run 1 loss epoch") == 0);
  CHECK(count(of.trace, "run 2 loss epoch") == 1);
}

TEST_CASE("a step never waits: a full queue drops and counts") {
  auto const to = std::make_shared<seen>();
  world of;
  to->stuck = true;
  auto session = monitored(numbered(of), off_thread{logger{.to = to}, {.capacity = 4, .linger = 60s}});
  (void)session.run_steps(1);
  while (!to->inside) std::this_thread::sleep_for(100us);
  (void)session.run_steps(100);
  auto const dropped = static_cast<long>(session.hook<off_thread<logger>>().dropped());
  CHECK(dropped >= 80);
  CHECK(dropped <= 97);
  to->stuck = false;
  session.close();
  CHECK(static_cast<long>(to->said.size()) == 2 + 101 - dropped + 2);  // begin, created; end, close
  CHECK(to->said.back() == "close");
}

TEST_CASE("a stop that the hook asks for is recorded in its name") {
  for (int const what : {0, 1}) {
    auto session = monitored(slow_graph(), stop_at_step{1'000'000}, off_thread{acting{.what = what}, in_full});
    (void)session.run_to_completion(target<"train">);
    session.close();
    CHECK(session.stop().source == tautline::stop_source::hook);
    CHECK(contains(described(session.stop()), "off_thread<"));
    CHECK(contains(described(session.stop()), what == 0 ? "enough at 2" : "gone"));
    CHECK(session.completed_steps() < 1'000'000);
  }
}

TEST_CASE("a failure comes up in a later step, as an error of the hook") {
  auto session = try_monitored(slow_graph(), stop_at_step{1'000'000}, off_thread{acting{.what = 2}, in_full});
  (void)session.try_run_to_completion(target<"train">);
  CHECK(session.status().kind == error_kind::unavailable);
  CHECK(contains(written(session.status()), "no network"));
  CHECK(contains(written(session.status()), "off_thread<"));
  CHECK(session.completed_steps() < 1'000'000);
  CHECK(session.hook<off_thread<acting>>().inside().to->said == lines{"close"});
}

TEST_CASE("a failure in the last step comes up at the end") {
  auto session = try_monitored(slow_graph(), off_thread{acting{.when = 3, .what = 2}, {.poll = 20ms, .linger = 60s}});
  (void)session.run_without_hooks(target<"train">);
  (void)session.run_without_hooks(target<"train">);
  (void)session.try_run(target<"train">);
  (void)session.try_close();
  CHECK(session.status().kind == error_kind::unavailable);
  CHECK(session.status().where == callback::end);
  CHECK(session.hook<off_thread<acting>>().inside().to->said == lines{"close"});
}

TEST_CASE("a hook that is stuck is given up: neither end nor close of its own, and an error") {
  auto const to = std::make_shared<seen>();
  world of;
  auto const start = std::chrono::steady_clock::now();
  {
    auto session = try_monitored(numbered(of), off_thread{logger{.to = to}, {.linger = 20ms}});
    to->stuck = true;
    (void)session.try_run();
    while (!to->inside) std::this_thread::sleep_for(100us);
    (void)session.try_close();
    CHECK(session.status().kind == error_kind::unavailable);
    CHECK(session.status().where == callback::end);
  }
  CHECK(std::chrono::steady_clock::now() - start < 60s);
  CHECK(to->said == lines{"begin", "created"});
  to->stuck = false;
  while (to->told == 0) std::this_thread::sleep_for(100us);
  CHECK(to->said == lines{"begin", "created", "1 due loss 1 epoch 1"});
}

TEST_CASE("errors of the session are told when the hook has caught up") {
  auto const to = std::make_shared<seen>();
  world of;
  of.in_run = broken_in(3);
  {
    auto session = monitored(numbered(of), off_thread{logger{.to = to}, {.poll = 20ms, .linger = 60s}});
    (void)session.run_steps(3);
  }
  CHECK(to->said == lines{"begin", "created", "1 due loss 1 epoch 1", "2 due loss 2 epoch 2", "error aborted", "created",
                          "1 due loss 4 epoch 4", "end 1", "close"});
}

TEST_CASE("the state is that of the moment: to list it waits for the hook") {
  std::vector<int> saved;
  auto session = monitored(static_graph{}.variable<"w">(0.0F).update<"train", "w">([](float& w) { w += 1; }), stop_at_step{20},
                           off_thread{counter{}, in_full}, toy_saver{&saved});
  (void)session.run_to_completion(target<"train">);
  session.close();
  std::vector<int> all;
  for (int i = 1; i <= 20; ++i) all.push_back(i);
  all.push_back(20);  // after the end
  CHECK(saved == all);
  static_assert(!off_thread<counter>::real_time && tautline::lists_state<off_thread<counter>>);
  static_assert(off_thread<logger>::real_time && tautline::stateless<off_thread<logger>>);
  static_assert(!tautline::stateless<off_thread<acting>> && !tautline::lists_state<off_thread<acting>>);
}

TEST_CASE("what the hook declares holds") {
  using wrapped = off_thread<related>;
  static_assert(std::is_same_v<wrapped::runs_before, related::runs_before>);
  static_assert(std::is_same_v<wrapped::category, tautline::check> && wrapped::outermost);
  static_assert(std::is_same_v<wrapped::tags, tautline::hooks<related, seen>>);
  static_assert(tautline::detail::has_trigger<off_thread<logger>> && !tautline::detail::has_trigger<wrapped>);
  static_assert(sizeof(tautline::detail::off_thread_record<related, 96>) == 128);
}

TEST_CASE("in real-time mode, with arrays") {
  auto const to = std::make_shared<std::vector<float>>();
  {
    auto session = monitored(static_graph{}
                                 .variable<"w">(std::array<float, 40>{})
                                 .op<"copy", "w">([](std::array<float, 40> const& w) { return w; })
                                 .update<"train", "w">([](std::array<float, 40>& w) { w[39] += 1; }),
                             options{real_time{}}, stop_at_step{50}, off_thread_with<160>(array_reader{to}, in_full));
    (void)session.run_to_completion(target<"train">);
  }
  REQUIRE(to->size() == 50);
  CHECK(to->front() == 0);
  CHECK(to->back() == 49);
}

TEST_CASE("a NaN is handed on as any other value") {
  auto const to = std::make_shared<seen>();
  world of;
  {
    auto session = monitored(scripted(of, [](long) { return std::nan(""); }), off_thread{logger{.to = to}, in_full});
    (void)session.run_steps(1);
  }
  CHECK(to->said[2] == "1 due loss nan epoch nan torn");  // a NaN is not itself
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("an exception ends the training: in a step by its kind and words, at the end as it was") {
  {
    auto session = monitored(slow_graph(), stop_at_step{1'000'000}, off_thread{acting{.what = 4}, in_full});
    CHECK(outcome_of([&] { (void)session.run_to_completion(target<"train">); }) == "threw nan");
    CHECK(contains(written(session.status()), "a nan"));
  }
  auto session = monitored(slow_graph(), off_thread{acting{.when = 1, .what = 3}, {.poll = 50ms, .linger = 60s}});
  (void)session.run(target<"train">);
  CHECK(outcome_of([&] { session.close(); }) == "threw no disk");
  CHECK(session.hook<off_thread<acting>>().inside().to->said == lines{"close"});
}

TEST_CASE("an exception in the callbacks of the session's thread is the hook's") {
  for (callback const where : {callback::begin, callback::after_create_session, callback::end, callback::close}) {
    CAPTURE(to_string(where));
    world of;
    CHECK(outcome_of([&] {
            auto session = monitored(backend(of), off_thread{failing{[&](callback at) {
                                                    if (at == where) throw std::domain_error("bad");
                                                  }}, in_full});
            (void)session.run_steps(1);
            session.close();
          }) == "threw bad");
  }
}
#endif
