// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include <tautline/hooks/any_hook.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "memory_store.hpp"
#include "support.hpp"

using namespace support;
using tautline::any_hook;
using tautline::any_hook_of;
using tautline::ask_if;
using tautline::feed;
using tautline::feeds;
using tautline::field;
using tautline::fields;
using tautline::kept_field;
using tautline::monitored;
using tautline::named;
using tautline::options;
using tautline::reads;
using tautline::restore_from;
using tautline::run_args;
using tautline::static_graph;

namespace {

using slot_type = any_hook<reads<"loss", double>>;

/// Tells of everything; asks in even steps.
struct reporter {
  static constexpr bool stateless = true;
  lines* to;
  std::string id;
  std::shared_ptr<int> owned = {};
  void begin(auto&) const { say("begin"); }
  void after_create_session(auto& session) const { say("created " + number(session.step())); }
  auto before_run(auto& ctx) const { return ask_if(ctx.step() % 2 == 0, fetch<"loss">); }
  void after_run(auto& ctx) const { say(number(ctx.step())); }
  void after_run(auto& ctx, auto const& values) const {
    std::string line = number(ctx.step()) + " " + number(values[fetch<"loss">]);
    values.each([&](char const* name, double value) { line += std::string(" ") + name + " " + number(value); });
    say(line);
  }
  void end(auto& session) const { say("end " + number(session.step())); }
  void on_error(tautline::error const& happened) const { say(to_string(happened.kind)); }
  void close() const { say("close"); }
  void say(std::string const& what) const { to->push_back(id + " " + what); }
};
struct stopping {
  void after_run(auto& ctx) const { ctx.request_stop("enough"); }
};
struct failing {
  void after_run(auto& ctx) const { ctx.fail(error_kind::internal, "no disk"); }
};

scripted numbered(world& of) {
  return scripted(of, [](long run) { return static_cast<double>(run); });
}

}  // namespace

TEST_CASE("a hook that is there from the start is told everything, and gets values when it asks") {
  world of;
  lines said;
  slot_type slot;
  slot.install(reporter{&said, "a"});
  {
    auto session = monitored(numbered(of), std::ref(slot));
    (void)session.run_steps(2);
  }
  CHECK(said == lines{"a begin", "a created 0", "a 1", "a 2 2 loss 2", "a end 2", "a close"});
  CHECK(count(of.trace, "run 1 loss") == 0);
  CHECK(count(of.trace, "run 2 loss") == 1);
}

TEST_CASE("installed between runs it is told what it has missed; the old one goes") {
  world of;
  lines said;
  slot_type slot;
  auto const owned = std::make_shared<int>();
  auto session = monitored(numbered(of), std::ref(slot));
  (void)session.run_steps(1);
  CHECK(said.empty());
  slot.install(reporter{&said, "a", owned});
  CHECK(owned.use_count() == 2);
  (void)session.run_steps(1);
  slot.install(reporter{&said, "b"});
  CHECK(owned.use_count() == 1);
  (void)session.run_steps(1);
  slot.clear();
  CHECK_FALSE(slot);
  (void)session.run_steps(1);
  session.close();
  CHECK(said == lines{"a begin", "a created 1", "a 2 2 loss 2", "b begin", "b created 2", "b 3"});
}

TEST_CASE("it may stop and fail, in the name of the slot, and is told of errors") {
  world of;
  slot_type slot;
  slot.install(stopping{});
  auto session = monitored(numbered(of), tautline::named<"slot">(std::ref(slot)));
  (void)session.run_steps(5);
  CHECK(described(session.stop()) == "stop by slot at 1: enough");
  world other;
  slot_type second;
  second.install(failing{});
  auto failed = tautline::try_monitored(numbered(other), std::ref(second));
  (void)failed.try_run();
  CHECK(failed.status().kind == error_kind::internal);
  world third;
  lines said;
  slot_type last;
  last.install(reporter{&said, "a"});
  third.in_run = broken_in(1);
  auto recovered = monitored(numbered(third), std::ref(last));
  (void)recovered.run_steps(1);
  CHECK(said == lines{"a begin", "a created 0", "a aborted", "a created 0", "a 1"});
}

TEST_CASE("a slot without values, and one of another size") {
  any_hook<> small;
  small.install(stopping{});
  world of;
  auto session = monitored(numbered(of), std::ref(small));
  (void)session.run_steps(5);
  CHECK(session.completed_steps() == 1);
  static_assert(any_hook_of<256>::capacity == 256 && slot_type::capacity == 128);
  static_assert(tautline::lists_state<slot_type>);
}

TEST_CASE("in a graph with types, where the value is that of the node") {
  any_hook<reads<"w", float>> slot;
  auto session = monitored(tautline::static_graph{}.variable<"w">(1.0F).update<"train", "w">([](float& w) { w += 1; }), std::ref(slot));
  struct holder {
    float seen = 0;
  } kept;
  struct reader {
    holder* to;
    static auto before_run(tautline::run_context_base&) { return fetch<"w">; }
    void after_run(tautline::run_context_base&, tautline::detail::slot_values<reads<"w", float>> const& values) const {
      to->seen = values[fetch<"w">];
    }
  };
  slot.install_unsaved(reader{&kept});
  (void)session.run(target<"train">);
  CHECK(kept.seen == 2.0F);
}

// --- feeds --------------------------------------------------------------------------------------------------------------

namespace {

using large = std::array<float, 100>;

auto echo() {
  return static_graph{}
      .placeholder<"rate">(0.5)
      .placeholder<"other">(1.0)
      .placeholder<"large">(large{})
      .op<"loss", "rate">([](double rate) { return 2 * rate; })
      .op<"other seen", "other">([](double other) { return other; })
      .op<"last", "large">([](large const& given) { return given[99]; });
}

using feeding_slot = any_hook<feeds<"other", double>, reads<"loss", double>, feeds<"rate", double>>;

/// Feeds the step in even steps, and reads what came of it in those that three divides.
struct feeding {
  static constexpr bool stateless = true;
  lines* to;
  static auto before_run(auto& ctx) {
    return run_args{ask_if(ctx.step() % 2 == 0, feed<"rate">(static_cast<double>(ctx.step()))), ask_if(ctx.step() % 3 == 0, fetch<"loss">)};
  }
  void after_run(auto&) const { to->emplace_back("-"); }
  void after_run(auto&, auto const& values) const { to->push_back(number(values[fetch<"loss">])); }
};
struct feeding_always {
  double value = 7;
  static constexpr bool stateless = true;
  auto before_run(auto&) const { return feed<"rate">(value); }
};
struct feeding_both {
  static auto before_run(auto&) { return run_args{feed<"rate">(3.0), feed<"other">(4.0)}; }
};

}  // namespace

TEST_CASE("a declared name is fed in the runs in which the hook inside feeds it, whether it reads or not") {
  lines said;
  feeding_slot slot;
  auto session = monitored(echo(), std::ref(slot));
  auto const rate = [&] { return session.run(fetch<"loss">)[fetch<"loss">] / 2; };
  CHECK(rate() == 0.5);
  slot.install(feeding{&said});
  CHECK(rate() == 2);
  CHECK(rate() == 0.5);
  CHECK(rate() == 4);
  CHECK(rate() == 0.5);
  CHECK(rate() == 6);
  CHECK(said == lines{"-", "1", "-", "-", "12"});
  slot.install(feeding_always{});
  CHECK(rate() == 7);
  slot.install(feeding_both{});
  auto const both = session.run(fetch<"loss">, fetch<"other seen">);
  CHECK(both[fetch<"loss">] == 6);
  CHECK(both[fetch<"other seen">] == 4);
  slot.clear();
  CHECK(rate() == 0.5);
}

TEST_CASE("a slot may feed only, and a large value by reference") {
  struct feeding_large {
    large value{};
    auto before_run(tautline::run_context_base& ctx) {
      value[99] = static_cast<float>(ctx.step());
      return ask_if(ctx.step() != 2, feed<"large">(value));
    }
  };
  any_hook_of<sizeof(large), feeds<"large", large>> slot;
  slot.install_unsaved(feeding_large{});
  auto session = monitored(echo(), std::ref(slot));
  CHECK(session.run(fetch<"last">)[fetch<"last">] == 1);
  CHECK(session.run(fetch<"last">)[fetch<"last">] == 0);
  CHECK(session.run(fetch<"last">)[fetch<"last">] == 3);
}

TEST_CASE("two feeds of one name are found in the run in which they meet, and name the slot") {
  lines said;
  feeding_slot slot;
  auto session = tautline::try_monitored(echo(), named<"slot">(std::ref(slot)));
  CHECK(bool(session.try_run(feed<"rate">(1.0))));  // empty
  slot.install(feeding{&said});
  CHECK(bool(session.try_run()));
  CHECK(bool(session.try_run(feed<"rate">(1.0))));  // an odd step
  CHECK_FALSE(bool(session.try_run(feed<"rate">(1.0))));
  CHECK(session.status().kind == error_kind::feed_conflict);
  CHECK(written(session.status().message) == "both the caller and slot feed \"rate\" in this run");
}

TEST_CASE("two slots may feed one name, not in one run") {
  any_hook<feeds<"rate", double>> first, second;
  first.install(feeding_always{1});
  auto session = tautline::try_monitored(echo(), named<"first">(std::ref(first)), named<"second">(std::ref(second)));
  CHECK(bool(session.try_run()));
  first.clear();
  second.install(feeding_always{2});
  CHECK(session.try_run(fetch<"loss">)[fetch<"loss">] == 4);
  first.install(feeding_always{1});
  CHECK_FALSE(bool(session.try_run()));
  CHECK(written(session.status().message) == "both first and second feed \"rate\" in this run");
}

// --- state --------------------------------------------------------------------------------------------------------------

namespace {

/// Counts, and says so; `begin` resets.
struct counting {
  lines* to;
  long seen = 0;
  long kept = 0;
  std::vector<double> all = {};
  auto state() { return fields{field<"seen">(seen), kept_field<"kept">(kept), field<"all">(all)}; }
  void begin(auto&) { seen = 0, kept = 0, all.clear(); }
  void after_restore() const { say("restored"); }
  void after_create_session(auto&) const { say("created"); }
  void after_run(auto& ctx) {
    ++seen, ++kept;
    all.push_back(static_cast<double>(ctx.step()));
    say(number(ctx.step()));
  }
  void say(std::string const& what) const {
    to->push_back(what + ": " + number(seen) + " " + number(kept) + " " + number(static_cast<long>(all.size())));
  }
};
struct other_counting {
  long seen = 0;
  auto state() { return fields{field<"seen">(seen)}; }
  void after_run(auto&) { ++seen; }
};

}  // namespace

TEST_CASE("a resumed training finds the state of the hook inside") {
  memory_store store;
  lines said;
  {
    world of;
    slot_type slot;
    slot.install(counting{&said});
    auto session = monitored(numbered(of), named<"slot">(std::ref(slot)), memory_saver{&store, tautline::every_steps{2}});
    (void)session.run_steps(3);
  }
  CHECK(store.values.size() == 4);  // with the saver's trigger
  CHECK(store.get<long>("hook/slot/counting/seen") == 2);
  CHECK(store.values.at("hook/slot/counting/all").bytes.size() == 2 * sizeof(double));
  CHECK(store.values.at("hook/slot/counting/kept").kept);
  said.clear();
  world of;
  slot_type slot;
  slot.install(counting{&said});
  auto session = monitored(numbered(of), options{restore_from{store}}, named<"slot">(std::ref(slot)), memory_saver{&store, tautline::every_steps{2}});
  (void)session.run_steps(1);
  CHECK(said == lines{"restored: 2 2 2", "created: 2 2 2", "3: 3 3 3"});
}

TEST_CASE("in a recovery it goes back with the training, but for what is kept") {
  memory_store store;
  lines said;
  world of;
  of.in_run = broken_in(4);
  slot_type slot;
  auto session = monitored(numbered(of), options{restore_from{store}}, named<"slot">(std::ref(slot)), memory_saver{&store, tautline::every_steps{2}});
  slot.install(counting{&said});  // between runs: it is begun in the next
  (void)session.run_steps(5);
  CHECK(said == lines{"created: 0 0 0", "1: 1 1 1", "2: 2 2 2", "3: 3 3 3", "restored: 2 3 2", "created: 2 3 2", "3: 3 4 3", "4: 4 5 4"});
}

TEST_CASE("a checkpoint is refused where another hook is in the slot, or it has none of the hook") {
  memory_store store;
  lines said;
  auto const saved_with = [&](auto install) {
    world of;
    slot_type slot;
    install(slot);
    auto session = monitored(numbered(of), named<"slot">(std::ref(slot)), memory_saver{&store, tautline::every_steps{2}});
    (void)session.run_steps(2);
  };
  auto const resumed_with = [&](auto install) {
    world of;
    slot_type slot;
    install(slot);
    auto session = tautline::try_monitored(numbered(of), options{restore_from{store}}, named<"slot">(std::ref(slot)), memory_saver{&store, tautline::every_steps{2}});
    return session.status().kind;
  };
  auto const nothing = [](slot_type&) {};
  auto const one = [&](slot_type& slot) { slot.install(counting{&said}); };
  auto const other = [](slot_type& slot) { slot.install(other_counting{}); };
  auto const unsaved = [&](slot_type& slot) { slot.install_unsaved(counting{&said}); };
  saved_with(one);
  CHECK(resumed_with(one) == error_kind::none);
  CHECK(resumed_with(other) == error_kind::invalid_argument);
  saved_with(other);
  CHECK(resumed_with(other) == error_kind::none);
  CHECK(resumed_with(one) == error_kind::invalid_argument);
  saved_with(nothing);
  CHECK(resumed_with(nothing) == error_kind::none);
  CHECK(resumed_with(one) == error_kind::invalid_argument);
  saved_with(unsaved);
  CHECK(store.values.size() == 1);
  CHECK(resumed_with(nothing) == error_kind::none);
  said.clear();
  CHECK(resumed_with(unsaved) == error_kind::none);
  CHECK(said == lines{"created: 0 0 0"});
}

TEST_CASE("a hook that has not begun is told of no session and no end, and is not in checkpoints") {
  memory_store store;
  lines said;
  world of;
  slot_type slot;
  auto session = monitored(numbered(of), named<"slot">(std::ref(slot)), memory_saver{&store, tautline::at_end});
  (void)session.run_steps(1);
  slot.install(counting{&said});
  session.close();
  CHECK(said.empty());
  CHECK(store.has);
  CHECK(store.values.empty());
  world other;
  slot_type second;
  other.in_run = broken_in(2);
  auto evaluating = monitored(numbered(other), std::ref(second));
  (void)evaluating.run_steps(1);
  second.install(reporter{&said, "a"});
  CHECK(evaluating.evaluate(fetch<"loss">)[fetch<"loss">] == 3);  // in a session that was made anew
  evaluating.close();
  CHECK(said == lines{"a aborted", "a close"});
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("an exception of the hook inside is the slot's") {
  struct bad {
    static void end(tautline::detail::slot_session&) { throw std::domain_error("bad"); }
  };
  world of;
  slot_type slot;
  slot.install(bad{});
  auto session = monitored(numbered(of), std::ref(slot));
  (void)session.run_steps(1);
  CHECK(outcome_of([&] { session.close(); }) == "threw bad");
}
#endif
