// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <tautline/testing.hpp>

// Hooks that are broken in one way each: the laws that this breaks fail, and no other.

using namespace tautline;
using namespace tautline::testing;

namespace {

/// Keeps every law: the broken ones are this with a change.
struct sound {
  double best = 1e9;
  int waited = 0;
  every_steps trigger{3};
  auto state() { return fields{field<"best">(best), field<"waited">(waited)}; }
  void begin(auto&) { *this = {}; }
  auto before_run(auto& ctx) { return run_args{fetch<"loss">, feed<"rate">(ctx.due() ? 0.5 : 1.0 / (1.0 + waited))}; }
  void after_run(auto&, auto& values) {
    double const loss = values[fetch<"loss">];
    waited = loss < best ? 0 : waited + 1;
    if (loss < best) best = loss;
  }
};

law_options const jagged{.values = {{"loss", {0.9, 0.5, 0.6, 0.7, 0.4, 0.45, 0.46, 0.47, 0.3, 0.31, 0.32, 0.33}}}};

template <class Hook>
law_report report_of() {
  return check_laws([] { return Hook{}; }, jagged);
}
/// The laws that fail.
template <class Hook>
std::string failing() {
  law_report const report = report_of<Hook>();
  INFO(report.text());
  CHECK(report.findings.size() == static_cast<std::size_t>(law_count));
  return report.failing();
}

struct forgets_reset : sound {
  void begin(auto&) {}
};
struct omits_a_field : sound {
  auto state() { return fields{field<"best">(best)}; }
};
struct allocates : sound {
  static constexpr bool real_time = true;
  std::vector<double> seen;
  void begin(auto&) { *this = {}; }
  void after_run(auto& ctx, auto& values) {
    sound::after_run(ctx, values);
    seen.push_back(best);
  }
};
struct leaks_after_an_error : sound {
  double* taken = nullptr;
  void begin(auto&) { sound::operator=({}); }
  void after_create_session(auto&) {
    static std::array<double*, 4096> all{};  // so that a sanitizer, which ends the program, does not see a leak
    static std::size_t count = 0;
    if (taken == nullptr) all[count++ % all.size()] = taken = std::make_unique<double>(1).release();
  }
  void end(auto&) {
    delete taken;
    taken = nullptr;
  }
};
struct ends_the_program_on_nan : sound {
  void after_run(auto& ctx, auto& values) {
    if (std::isnan(double(values[fetch<"loss">]))) std::_Exit(3);
    sound::after_run(ctx, values);
  }
};
struct traps_on_infinity : sound {
  void after_run(auto& ctx, auto& values) {
    if (std::isinf(double(values[fetch<"loss">]))) __builtin_trap();
    sound::after_run(ctx, values);
  }
};
struct fails_on_nan_in_its_own_way : sound {
  void after_run(auto& ctx, auto& values) {
    if (std::isnan(double(values[fetch<"loss">]))) ctx.fail(error_kind::internal, "what is this?");
    sound::after_run(ctx, values);
  }
};
struct changes_its_shape {
  double room[32] = {};
  std::size_t used = 0;
  std::span<double> seen{};
  auto state() {
    seen = std::span<double>(room, used);
    return fields{field<"seen">(seen)};
  }
  void begin(auto&) { used = 0; }
  void after_run(auto&) { ++used; }
};
struct spoils_what_is_restored : sound {
  void after_restore() { best += 1; }
};
struct closes_badly_after_an_error : sound {
  bool failed = false;
  void begin(auto&) { *this = {}; }
  void after_create_session(auto&) { failed = false; }
  void on_error(error const&) { failed = true; }
  void close(life& at) const {
    if (failed) at.fail(error_kind::internal, "nothing to close");
  }
};
struct needs_a_run : sound {
  int runs = 0;
  auto state() { return fields{field<"best">(best), field<"waited">(waited), field<"runs">(runs)}; }
  void begin(auto&) { *this = {}; }
  void after_run(auto& ctx, auto& values) {
    ++runs;
    sound::after_run(ctx, values);
  }
  void end(auto&, life& at) const {
    if (runs == 0) at.fail(error_kind::invalid_argument, "the mean of no values");
  }
};
struct counts_for_itself : sound {
  step_number last = 0;
  void begin(auto&) { *this = {}; }
  void after_create_session(auto& session) { last = session.step(); }
  void after_run(auto& ctx, auto& values) {
    if (ctx.step() != ++last) ctx.fail(error_kind::internal, "a step is missing");
    sound::after_run(ctx, values);
  }
};
struct forgets_in_a_recovery : sound {
  bool made = false;
  void begin(auto&) { *this = {}; }
  void after_create_session(auto&) {
    if (std::exchange(made, true)) best = 1e9, waited = 0;
  }
};
struct expects_one_session : sound {
  bool made = false;
  void begin(auto&) { *this = {}; }
  void after_create_session(auto&, life& at) {
    if (std::exchange(made, true)) at.fail(error_kind::internal, "again?");
  }
};
struct cannot_be_used_after_an_error : sound {
  bool failed = false;
  void begin(auto&, life& at) {
    sound::operator=({});
    if (failed) at.fail(error_kind::internal, "I am broken");
  }
  void on_error(error const& happened) { failed = failed || *happened.hook != 0; }
};
template <class Hook>
struct takes_memory : Hook {
  void after_run(auto& ctx, auto& values) {
    Hook::after_run(ctx, values);
    ::operator delete(::operator new(8));
  }
};
struct stop_late {
  static constexpr bool stateless = true;
  void after_run(auto& ctx) const {
    if (ctx.step() >= 30) ctx.request_stop("late");
  }
};
/// Writes when its trigger fires, with a number that it does not save.
struct numbers_its_lines {
  static constexpr bool stateless = true;
  output* out;
  every_steps trigger{3};
  int lines = 0;
  void begin(auto&) { lines = 0; }
  void after_run(auto& ctx) {
    if (ctx.due()) out->write("line " + std::to_string(++lines));
  }
};

}  // namespace

TEST_CASE("a sound hook keeps every law") {
  law_report const report = report_of<sound>();
  INFO(report.text());
  CHECK(report.good());
  CHECK(report.count(verdict::holds) == law_count);
}

TEST_CASE("each fault is found by its law") {
  CHECK(failing<forgets_reset>() == "reset");
  CHECK(failing<omits_a_field>() == "resume,recovery");
  CHECK(failing<allocates>() == "no_allocation");
  CHECK(failing<leaks_after_an_error>() == "no_leak");
  CHECK(failing<ends_the_program_on_nan>() == "bad_values");
  CHECK(failing<traps_on_infinity>() == "bad_values");
  CHECK(failing<fails_on_nan_in_its_own_way>() == "bad_values");
  CHECK(failing<closes_badly_after_an_error>() == "error_of_hook,error_of_session");
  CHECK(failing<needs_a_run>() == "empty_input");
  CHECK(failing<counts_for_itself>() == "several_steps");
  CHECK(failing<forgets_in_a_recovery>() == "recovery");
  CHECK(failing<expects_one_session>() == "error_of_session,recovery,recovery_kept");
  CHECK(failing<cannot_be_used_after_an_error>() == "error_of_hook");
  law_report const numbered = check_laws([](output& out) { return numbers_its_lines{&out}; });
  CHECK(numbered.failing() == "resume_output");
}

TEST_CASE("what cannot be put back cannot be resumed") {
  CHECK(failing<changes_its_shape>().starts_with("stable_fields,round_trip,resume"));
  CHECK(failing<spoils_what_is_restored>().starts_with("round_trip,resume"));
}

TEST_CASE("a report says what was seen") {
  law_report const report = report_of<traps_on_infinity>();
  CHECK(report[law::bad_values].text.find("infinity: the program was ended by signal ") != std::string::npos);
  CHECK(report.text().find("  bad_values        FAILS\n") != std::string::npos);
  CHECK(report.text(false).find("holds") == std::string::npos);
  CHECK(report_of<omits_a_field>()[law::resume].text.find("after 3 runs: state, whole and resumed: ") != std::string::npos);
}

TEST_CASE("an exception has a reason, and must be needed") {
  law_options given = jagged;
  given.except = {{law::reset, "it goes on for ever"}};
  law_report const report = check_laws([] { return forgets_reset{}; }, given);
  CHECK(report.good());
  CHECK(report[law::reset].how == verdict::excepted);
  CHECK(report.text().find("excepted\n      it goes on for ever\n") != std::string::npos);
  law_report const stale = check_laws([] { return sound{}; }, given);
  CHECK(!stale.good());
  CHECK(stale[law::reset].how == verdict::stale);
}

TEST_CASE("of hooks without a promise allocations are told, unless they are forbidden") {
  law_options given = jagged;
  auto const make = [](output& out) { return numbers_its_lines{&out}; };
  CHECK(check_laws(make, given)[law::no_allocation].how == verdict::holds);  // what the output takes does not count
  CHECK(check_laws([] { return takes_memory<sound>{}; }, given)[law::no_allocation].how == verdict::not_looked_at);
  given.no_heap = true;
  CHECK(check_laws([] { return takes_memory<sound>{}; }, given).failing() == "no_allocation");
}

TEST_CASE("laws hold of several hooks together, and of named ones") {
  CHECK(check_laws(together([] { return sound{}; }, [] { return named<"second">(stop_late{}); }), jagged).good());
  law_report const broken = check_laws(together([] { return stop_late{}; }, [] { return omits_a_field{}; }), jagged);
  CHECK(broken.failing() == "resume,recovery");
}
