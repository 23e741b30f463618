// SPDX-License-Identifier: BSL-1.0
#include <functional>
#include <memory>
#include <stdexcept>

#include <tautline/hooks/any_hook.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "support.hpp"

using namespace support;
using tautline::any_hook;
using tautline::any_hook_of;
using tautline::ask_if;
using tautline::monitored;
using tautline::reads;

namespace {

using slot_type = any_hook<reads<"loss", double>>;

/// Tells of everything; asks in even steps.
struct reporter {
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
  static_assert(tautline::stateless<slot_type>);
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
  slot.install(reader{&kept});
  (void)session.run(target<"train">);
  CHECK(kept.seen == 2.0F);
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
