// SPDX-License-Identifier: BSL-1.0
#include <functional>
#include <utility>

#include "support.hpp"

// In which order hooks are called.

namespace {

using namespace support;
using tautline::hooks;
using tautline::monitored;
using tautline::named;

/// Writes down its callbacks. Each `Tag` is a type of its own, with relations of its own.
template <class Tag>
struct noting : Tag {
  lines* seen;
  explicit noting(lines& all) : seen(&all) {}
  void begin(auto&) { note("begin"); }
  void after_create_session(auto&) { note("after_create_session"); }
  void before_run(auto&) { note("before_run"); }
  void after_run(auto&) { note("after_run"); }
  void on_error(tautline::error const&) { note("on_error"); }
  void end(auto&) { note("end"); }
  void close() { note("close"); }
  void note(char const* where) { seen->push_back(std::string(where) + " " + Tag::id); }
};

struct tag_one {};
struct tag_two {};

struct plain_a { static constexpr char const* id = "a"; };
struct plain_b { static constexpr char const* id = "b"; };
struct plain_c { static constexpr char const* id = "c"; };
struct before_a {
  static constexpr char const* id = "before_a";
  using runs_before = hooks<noting<plain_a>>;
};
struct after_c {
  static constexpr char const* id = "after_c";
  using runs_after = hooks<noting<plain_c>>;
};
struct tagged {
  static constexpr char const* id = "tagged";
  using tags = hooks<tag_one, tag_two>;
};
struct before_tagged {
  static constexpr char const* id = "before_tagged";
  using runs_before = hooks<tag_two>;
};
struct after_tagged {
  static constexpr char const* id = "after_tagged";
  using runs_after = hooks<tag_one>;
};
struct checking {
  static constexpr char const* id = "check";
  using category = tautline::check;
};
struct saving {
  static constexpr char const* id = "saver";
  using category = tautline::saver;
};
struct before_savers {
  static constexpr char const* id = "before_savers";
  using runs_before = hooks<tautline::saver>;
};
struct after_absent {
  static constexpr char const* id = "after_absent";
  using runs_after = hooks<noting<plain_c>, tag_one>;
};
struct outer_one {
  static constexpr char const* id = "outer1";
  static constexpr bool outermost = true;
};
struct outer_two {
  static constexpr char const* id = "outer2";
  static constexpr bool outermost = true;
};
struct not_outer {
  static constexpr char const* id = "not_outer";
  static constexpr bool outermost = false;
};

char const* const opening_events[] = {"begin", "after_create_session", "before_run"};
char const* const closing_events[] = {"after_run", "end", "close"};

/// One run, then close; every event must have its order.
template <class... Tags>
void check_order(lines const& opening, lines const& closing) {
  lines seen;
  {
    world of;
    auto session = monitored(backend{of}, noting<Tags>(seen)...);
    (void)session.run();
    session.close();
  }
  lines expected;
  for (char const* event : opening_events) {
    for (std::string const& id : opening) expected.push_back(std::string(event) + " " + id);
  }
  for (char const* event : closing_events) {
    for (std::string const& id : closing) expected.push_back(std::string(event) + " " + id);
  }
  CHECK(joined(seen) == joined(expected));

  seen.clear();
  world of;
  of.in_run = [](long) { return tautline::status{error_kind::internal, "broken"}; };
  auto session = monitored(backend{of}, noting<Tags>(seen)...);
  seen.clear();
  (void)session.try_run();
  expected.clear();
  for (std::string const& id : opening) expected.push_back("before_run " + id);
  for (std::string const& id : closing) expected.push_back("on_error " + id);
  for (std::string const& id : closing) expected.push_back("close " + id);
  CHECK(joined(seen) == joined(expected));
}
template <class... Tags>
void check_order(lines const& expected) {
  check_order<Tags...>(expected, expected);
}

TEST_CASE("hooks are called in the order of the arguments, in every callback") {
  check_order<plain_a, plain_b, plain_c>({"a", "b", "c"});
  check_order<plain_c, plain_a, plain_b>({"c", "a", "b"});
}

TEST_CASE("the same type twice keeps the order of the arguments") {
  check_order<plain_b, plain_a, plain_b>({"b", "a", "b"});
}

TEST_CASE("a relation by type moves a hook no further than it must") {
  check_order<plain_a, plain_b, before_a>({"b", "before_a", "a"});
  check_order<after_c, plain_b, plain_c, plain_a>({"b", "c", "after_c", "a"});
  check_order<after_c, plain_a, plain_c, before_a>({"c", "after_c", "before_a", "a"});
}

TEST_CASE("a relation holds for every hook of the type") {
  check_order<plain_a, plain_a, before_a>({"before_a", "a", "a"});
  check_order<after_c, plain_c, plain_b, plain_c>({"c", "b", "c", "after_c"});
}

TEST_CASE("a relation by tag, to any of a hook's tags") {
  check_order<after_tagged, tagged, before_tagged>({"before_tagged", "tagged", "after_tagged"});
}

TEST_CASE("checks come before savers, whatever the order of the arguments") {
  check_order<saving, plain_a, checking>({"a", "check", "saver"});
  check_order<checking, saving>({"check", "saver"});
  check_order<saving, saving, checking, checking>({"check", "check", "saver", "saver"});
}

TEST_CASE("a relation by category") {
  check_order<saving, plain_a, before_savers>({"a", "before_savers", "saver"});
}

TEST_CASE("a relation to what is absent is ignored") {
  check_order<after_absent, plain_a>({"after_absent", "a"});
}

TEST_CASE("an outermost hook is first in the opening callbacks and last in the others; two of them nest") {
  check_order<plain_a, outer_one, plain_b>({"outer1", "a", "b"}, {"a", "b", "outer1"});
  check_order<plain_a, outer_one, plain_b, outer_two>({"outer1", "outer2", "a", "b"}, {"a", "b", "outer2", "outer1"});
  check_order<plain_a, not_outer>({"a", "not_outer"});
}

TEST_CASE("an outermost hook is outside of relations, too") {
  check_order<saving, outer_one, checking>({"outer1", "check", "saver"}, {"check", "saver", "outer1"});
}

TEST_CASE("a name and a reference pass a hook's relations on") {
  lines seen;
  world of;
  noting<checking> kept(seen);
  auto session = monitored(backend{of}, named<"s">(noting<saving>(seen)), std::ref(kept));
  (void)session.run();
  CHECK(seen[0] == "begin check");
  CHECK(seen[1] == "begin saver");
  CHECK(&session.hook<noting<checking>>() == &kept);
}

/// What one run of some of the hooks shows.
TEST_CASE("run_with by type, by name, and run_without_hooks keep the order among those that see the run") {
  lines seen;
  world of;
  auto session = monitored(backend{of}, noting<plain_a>(seen), named<"second">(noting<plain_a>(seen)),
                           noting<before_a>(seen), noting<outer_one>(seen));
  auto const after = [&](auto run) {
    seen.clear();
    run();
    return joined(seen);
  };
  CHECK(after([&] { (void)session.run_without_hooks(); }).empty());
  CHECK(after([&] { (void)session.run_with<noting<plain_a>>(); }) ==
        "before_run a\nbefore_run a\nafter_run a\nafter_run a\n");
  CHECK(after([&] { (void)session.run_with<"second">(); }) == "before_run a\nafter_run a\n");
  CHECK(after([&] { (void)session.run_with<noting<plain_a>, noting<outer_one>, noting<before_a>>(); }) ==
        "before_run outer1\nbefore_run before_a\nbefore_run a\nbefore_run a\n"
        "after_run before_a\nafter_run a\nafter_run a\nafter_run outer1\n");
  CHECK(session.completed_steps() == 4);
  CHECK(of.runs == 4);
}

TEST_CASE("hooks are reached by type and by name") {
  lines seen;
  world of;
  auto session = monitored(backend{of}, noting<plain_a>(seen), named<"x">(stop_after{7}), stop_after{9});
  CHECK(session.hook<"x">().last == 7);
  CHECK(session.hook<stop_after>().last == 7);  // the first of the type
  session.hook<"x">().last = 1;
  CHECK(session.run_to_completion().steps == 1);
}

}  // namespace
