// SPDX-License-Identifier: BSL-1.0
#include <random>
#include <string_view>
#include <utility>

#include "support.hpp"

// Hooks whose triggers foresee when they are due are looked at once for all of them. Each must see what it would see if
// it were asked by itself in each run: two sessions that differ in nothing else write down the same.

namespace {

using namespace support;
using tautline::after;
using tautline::at_end;
using tautline::at_steps;
using tautline::before;
using tautline::every_steps;
using tautline::monitored;
using tautline::named;
using tautline::never;
using tautline::once;
using tautline::trigger_view;
using tautline::when;

/// The same trigger, which foresees nothing: what is derived does not, as it may be due elsewhere.
template <tautline::trigger Trigger>
struct unforeseen : Trigger {};
static_assert(tautline::detail::foresees<every_steps>);
static_assert(!tautline::detail::foresees<unforeseen<every_steps>>);

struct foreseen {
  template <class Trigger>
  using kind = Trigger;
};
struct asked_each_time {
  template <class Trigger>
  using kind = unforeseen<Trigger>;
};

/// What a hook asks for, and when.
enum class asks { when_due, when_due_or_odd, always, nothing };

/// Writes down what it sees, and whether it is due.
template <asks When, tautline::fixed_string Value, class Trigger>
struct recorder {
  static constexpr auto name = Value;
  Trigger trigger;
  world* of;

  auto before_run(auto& ctx) {
    seen("before", ctx);
    if constexpr (When == asks::always) {
      return fetch<Value>;
    } else if constexpr (When == asks::when_due_or_odd) {
      return ask_if(ctx.due() || ctx.step() % 8 == 7, fetch<Value>);
    } else if constexpr (When == asks::when_due) {
      return ask_if(ctx.due(), fetch<Value>);
    }
  }
  void after_run(auto& ctx) { seen("after", ctx); }
  void after_run(auto& ctx, auto const& values)
    requires(When != asks::nothing)
  {
    seen("after", ctx, values[fetch<Value>]);
  }
  void end(auto&, life& at) { seen("end", at); }
  void close() { of->say(std::string("close ") + Value.characters); }

  void seen(char const* where, life& at, float value = 0) {
    of->say(std::string(where) + " " + Value.characters + " step=" + number(at.step()) + (at.due() ? " due " : " ") +
            number(value));
  }
};

/// Says what it is asked for.
struct telling_backend : backend {
  using backend::backend;
  template <class Request>
  tautline::status run(Request const& request) {
    std::string words = "wanted:";
    request.each_fetch([&]<tautline::fixed_string Name> { words += std::string(" ") + Name.characters; });
    of->say(words);
    return backend::run(request);
  }
};

/// A drive of runs of many kinds, with failures in between, as the numbers of a seed say.
template <class Session>
void drive(Session& session, world& of, unsigned seed) {
  std::mt19937 numbers(seed);
  of.in_run = [chance = std::mt19937(seed + 1)](long) mutable {
    return chance() % 23 == 0 ? tautline::status{error_kind::aborted, "gone"} : tautline::status{};
  };
  for (int i = 0; i < 60 && session.is_open(); ++i) {
    of.first_step = session.completed_steps() > 3 ? session.completed_steps() - 3 : 0;  // what a recovery restores
    switch (numbers() % 8) {
      case 0: (void)session.run_without_hooks(); break;
      case 1: (void)session.template run_with<stop_after>(); break;
      case 2: (void)session.evaluate(fetch<"loss">); break;
      case 3: (void)session.run(); break;
      default: (void)session.run_steps(static_cast<step_number>(numbers() % 5 + 1)); break;
    }
  }
  if (session.is_open()) session.close();
}

template <class Kind, class Make>
lines trace_of(unsigned seed, Make make) {
  world of;
  of.per_run = static_cast<step_number>(seed % 3 + 1);
  of.first_step = static_cast<step_number>(seed % 5);
  {
    auto session = make(of, [&]<asks When, tautline::fixed_string Value>(auto trigger) {
      using kind = typename Kind::template kind<decltype(trigger)>;
      static_assert(std::is_same_v<Kind, foreseen> || !tautline::detail::foresees<kind>);
      return recorder<When, Value, kind>{kind{trigger}, &of};
    });
    drive(session, of, seed);
  }
  return of.trace;
}

/// @param make makes a session with `hook.operator()<When, Name>(trigger)`
template <class Make>
void compare(Make make) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    lines const one = trace_of<foreseen>(seed, make), other = trace_of<asked_each_time>(seed, make);
    REQUIRE(joined(one) == joined(other));
    REQUIRE(one.size() > 100);
  }
}

TEST_CASE("neighbours that act every N steps see what they would see alone") {
  compare([](world& of, auto hook) {
    return monitored(telling_backend{of}, stop_after{1000}, hook.template operator()<asks::when_due, "a">(every_steps{5}),
                     hook.template operator()<asks::when_due, "b">(every_steps{7}),
                     hook.template operator()<asks::nothing, "c">(every_steps{.period = 9, .also_first = true}));
  });
}

TEST_CASE("triggers of all kinds, alone and joined, in one stretch") {
  compare([](world& of, auto hook) {
    return monitored(telling_backend{of}, stop_after{1000},
                     hook.template operator()<asks::when_due, "a">(at_steps{2, 9, 20, 33}),
                     hook.template operator()<asks::when_due, "b">(once),
                     hook.template operator()<asks::when_due, "c">(every_steps{4} & after{10}),
                     hook.template operator()<asks::nothing, "d">(after{30} & before{45}),
                     hook.template operator()<asks::when_due, "e">(every_steps{11} | at_steps{3, 40}),
                     hook.template operator()<asks::when_due, "f">(at_steps{12, 24} & every_steps{6}),
                     hook.template operator()<asks::when_due, "g">(before{6}),
                     hook.template operator()<asks::nothing, "h">(never));
  });
}

TEST_CASE("what one of few neighbours remembers is not passed over") {
  compare([](world& of, auto hook) {
    return monitored(telling_backend{of}, stop_after{1000},
                     hook.template operator()<asks::when_due, "a">(after{10} & every_steps{4}),
                     hook.template operator()<asks::when_due, "b">(once));
  });
  compare([](world& of, auto hook) {
    return monitored(telling_backend{of}, stop_after{1000},
                     hook.template operator()<asks::when_due, "a">(every_steps{4} & after{10}),
                     hook.template operator()<asks::when_due, "b">(after{10} & before{30}));
  });
}

TEST_CASE("once waits for the first run that it sees") {
  world of;
  auto session = monitored(telling_backend{of}, recorder<asks::nothing, "a", std::remove_const_t<decltype(once)>>{once, &of},
                           recorder<asks::nothing, "b", every_steps>{{50}, &of});
  (void)session.run_without_hooks();
  (void)session.run();
  CHECK(of.trace[3] == "before a step=2 due 0");
}

TEST_CASE("what fires at the end fires as if it had been asked in each run") {
  compare([](world& of, auto hook) {
    return monitored(telling_backend{of}, stop_after{1000},
                     hook.template operator()<asks::always, "a">(every_steps{5} | at_end),
                     hook.template operator()<asks::nothing, "b">(every_steps{4} | at_end),
                     hook.template operator()<asks::always, "c">(never | at_end));
  });
}

TEST_CASE("a hook that asks although it is not due gets its values, wherever it stands") {
  compare([](world& of, auto hook) {
    return monitored(telling_backend{of}, stop_after{1000},
                     hook.template operator()<asks::when_due, "a">(every_steps{13}),
                     hook.template operator()<asks::when_due_or_odd, "b">(every_steps{10}),
                     hook.template operator()<asks::when_due_or_odd, "c">(every_steps{50}),
                     hook.template operator()<asks::always, "d">(every_steps{50}));
  });
}

TEST_CASE("several stretches, between hooks without a trigger and with one that foresees nothing") {
  compare([](world& of, auto hook) {
    return monitored(telling_backend{of}, hook.template operator()<asks::when_due, "a">(every_steps{5}),
                     hook.template operator()<asks::when_due, "b">(every_steps{10}), probe{&of, "x"}, stop_after{1000},
                     hook.template operator()<asks::when_due, "c">(every_steps{3}), probe{&of, "y"},
                     hook.template operator()<asks::when_due, "d">(when([](step_number step) { return step % 4 == 1; })),
                     hook.template operator()<asks::when_due_or_odd, "e">(every_steps{6}),
                     hook.template operator()<asks::when_due, "f">(every_steps{9}));
  });
}

/// Is due in the first three steps, too.
struct also_the_first_three : every_steps {
  static bool due(memory const& kept, trigger_view const& view) {
    return (!view.ending && view.step <= 3) || every_steps::due(kept, view);
  }
};
TEST_CASE("a trigger that is derived from one of the library is asked where its own due may be true") {
  compare([](world& of, auto hook) {
    return monitored(telling_backend{of}, stop_after{1000},
                     hook.template operator()<asks::when_due, "a">(also_the_first_three{{7}}),
                     hook.template operator()<asks::when_due, "b">(every_steps{9}));
  });
}

TEST_CASE("steps below zero are steps") {
  world of;
  of.first_step = -8;
  auto session = monitored(telling_backend{of}, recorder<asks::nothing, "a", std::remove_const_t<decltype(once)>>{once, &of},
                           recorder<asks::nothing, "b", every_steps>{{.period = 50, .also_first = true}, &of},
                           recorder<asks::nothing, "c", before>{before{-6}, &of});
  (void)session.run_steps(3);
  lines due;
  for (std::string const& line : of.trace) {
    if (line.starts_with("before") && line.find(" due ") != std::string::npos) due.push_back(line);
  }
  CHECK(due == lines{"before a step=-7 due 0", "before b step=-7 due 0", "before c step=-7 due 0"});
}

/// Of the kinds that one writes where there is no std::optional: without a value only when it is told so, never assigned to.
template <bool Movable>
struct own_optional {
  using value_type = tautline::run_args<tautline::fetch_t<"loss">>;
  bool const now;
  value_type const request{fetch<"loss">};
  explicit own_optional(bool given) : now(given) {}
  own_optional(own_optional&&) requires(Movable) = default;
  own_optional(own_optional const&) = delete;
  [[nodiscard]] bool has_value() const { return now; }
  value_type const& operator*() const { return request; }
};
template <class Request>
struct optional_asker {
  every_steps trigger;
  lines* seen;
  auto before_run(auto& ctx) { return Request(ctx.due() || ctx.step() == 3); }
  void after_run(auto& ctx, auto const& values) { seen->push_back(number(ctx.step()) + " " + number(values[fetch<"loss">])); }
};
TEST_CASE_TEMPLATE("a request may be of a kind that is neither made without arguments nor assigned to", Request,
                   own_optional<true>, own_optional<false>) {
  world of;
  lines seen, other;
  auto session = monitored(backend{of}, optional_asker<Request>{{4}, &seen}, optional_asker<Request>{{5}, &other});
  (void)session.run_steps(8);
  CHECK(seen == lines{"3 1.5", "4 2", "8 4"});
  CHECK(other == lines{"3 1.5", "5 2.5"});
}
/// An optional that has a value unless told otherwise.
struct eager_optional {
  using value_type = tautline::run_args<tautline::fetch_t<"loss">>;
  bool now = true;
  value_type request{fetch<"loss">};
  [[nodiscard]] constexpr bool has_value() const { return now; }
  constexpr value_type const& operator*() const { return request; }
};
struct eager_asker {
  every_steps trigger;
  lines* seen;
  step_number also;
  auto before_run(auto& ctx) { return eager_optional{ctx.due() || ctx.step() == also}; }
  void after_run(auto& ctx, auto const&) { seen->push_back(number(ctx.step())); }
};
TEST_CASE("a request of a kind that asks unless told otherwise asks when it is told to") {
  world of;
  lines seen, other;
  auto session = monitored(backend{of}, eager_asker{{4}, &seen, 6}, eager_asker{{5}, &other, 3});
  (void)session.run_steps(8);
  CHECK(seen == lines{"4", "6", "8"});
  CHECK(other == lines{"3", "5"});
}

/// Arms the first trigger of the session again, in the run of a step.
struct arming {
  step_number at;
  void after_run(auto& ctx) const {
    if (ctx.step() != at) return;
    bool armed = false;
    ctx.session().state().each([&](tautline::state_item const& item) {
      if (armed || !std::string_view(item.field).ends_with("(trigger)")) return;
      *static_cast<std::uint64_t*>(item.object) = 1;
      armed = true;
    });
    CHECK(armed);
  }
};

TEST_CASE("a trigger that another hook arms again in a run is seen in the next one") {
  for (step_number at : {step_number{5}, step_number{6}}) {  // a quiet run, and one that is not
    CAPTURE(at);
    world of;
    auto session = monitored(telling_backend{of}, recorder<asks::nothing, "a", std::remove_const_t<decltype(once)>>{once, &of},
                             recorder<asks::nothing, "b", every_steps>{{3}, &of}, arming{at});
    (void)session.run_steps(8);
    lines due;
    for (std::string const& line : of.trace) {
      if (line.starts_with("before a") && line.find("due") != std::string::npos) due.push_back(line);
    }
    CHECK(due == lines{"before a step=1 due 0", "before a step=" + number(at + 1) + " due 0"});
  }
}

TEST_CASE("a value that a hook wants when it is due is computed in those runs only") {
  world of;
  auto session = monitored(telling_backend{of}, recorder<asks::when_due, "a", every_steps>{{3}, &of},
                           recorder<asks::when_due, "b", every_steps>{{2}, &of});
  (void)session.run_steps(6);
  lines wanted;
  for (std::string const& line : of.trace) {
    if (line.starts_with("wanted")) wanted.push_back(line);
  }
  CHECK(wanted == lines{"wanted:", "wanted: b", "wanted: a", "wanted: b", "wanted:", "wanted: a b"});
}

}  // namespace
