// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <limits>

#include <tautline/hooks/nan_checker.hpp>
#include <tautline/sessions/step_function.hpp>

#include "support.hpp"

using namespace support;
using tautline::monitored;
using tautline::nan_checker;
using tautline::on_nan;
using tautline::step_function;
using tautline::value;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// The message of the error with which a value of the third step ends a training; empty if it goes on.
template <class Value>
std::string verdict_on(Value const& bad, Value const& good) {
  int step = 0;
  auto session = tautline::try_monitored(step_function([&] { return value<"x">(++step == 3 ? bad : good); }),
                                         nan_checker<"x">{});
  while (session.completed_steps() < 5 && session.try_run()) {
  }
  CHECK(session.completed_steps() == (session.status() ? 3 : 5));
  if (session.status()) CHECK(session.status().kind == error_kind::nan);
  return written(session.status().message);
}

struct eigen_like {
  bool finite;
  [[nodiscard]] bool allFinite() const { return finite; }
};

struct saver_probe {
  using category = tautline::saver;
  std::vector<step_number>* saved;
  void after_run(auto& ctx) { saved->push_back(ctx.step()); }
};

}  // namespace

TEST_CASE("numbers that are not finite are found") {
  CHECK(verdict_on(nan, 1.0f) == "x is nan");
  CHECK(verdict_on(infinity, 1.0f) == "x is inf");
  CHECK(verdict_on(-infinity, 1.0f) == "x is -inf");
  CHECK(verdict_on(static_cast<double>(nan), 1.0) == "x is nan");
  CHECK(verdict_on(static_cast<long double>(infinity), 1.0L) == "x is inf");
  CHECK(verdict_on(std::numeric_limits<float>::max(), -0.0f).empty());
  CHECK(verdict_on(std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::lowest()).empty());
}

TEST_CASE("arrays and ranges are looked at to any depth, and the place is told") {
  using matrix = std::array<std::array<float, 3>, 2>;
  CHECK(verdict_on(matrix{{{1, 2, 3}, {4, nan, 6}}}, matrix{}) == "x[4] is nan");
  CHECK(verdict_on(std::vector<double>{0, 0, static_cast<double>(-infinity)}, {0, 0, 0}) == "x[2] is -inf");
  CHECK(verdict_on(std::vector<std::vector<float>>{{}, {1}, {2, infinity}}, {}) == "x[2] is inf");
  CHECK(verdict_on(std::vector<float>{}, {}).empty());
  struct with_array {
    float numbers[4];
    [[nodiscard]] auto begin() const { return numbers; }
    [[nodiscard]] auto end() const { return numbers + 4; }
  };
  CHECK(verdict_on(with_array{{0, 0, 0, nan}}, with_array{}) == "x[3] is nan");
  CHECK(verdict_on(eigen_like{false}, eigen_like{true}) == "x[0] is nan");
}

TEST_CASE("C arrays are looked at to any depth") {
  float const good[2][2] = {{1, 2}, {3, 4}};
  float const bad[2][2] = {{1, 2}, {nan, 4}};
  CHECK(tautline::detail::all_finite(good));
  CHECK_FALSE(tautline::detail::all_finite(bad));
  CHECK(tautline::detail::find_not_finite(bad).index == 2);
}

TEST_CASE("failing: the error has the step and the hook, and there is no end") {
  world of;
  auto session = monitored(scripted(of, [](long run) { return run == 2 ? static_cast<double>(nan) : 1.0; }),
                           nan_checker<"loss">{}, probe{&of, "p"});
#if TAUTLINE_EXCEPTIONS
  CHECK_THROWS_AS((void)session.run_to_completion(), tautline::nan_error);
#else
  CHECK(session.run_to_completion().error == error_kind::nan);
#endif
  auto const error = session.status();
  CHECK(error.kind == error_kind::nan);
  CHECK(error.where == callback::after_run);
  CHECK(error.step == 2);
  CHECK(contains(error.hook, "nan_checker"));
  CHECK(written(error.message) == "loss is nan");
  CHECK(count(of.trace, "end p") == 0);
  CHECK(count(of.trace, "close p") == 1);
}

TEST_CASE("stopping: all hooks see the run, and there is an end") {
  world of;
  auto session = monitored(scripted(of, [](long run) { return run == 2 ? static_cast<double>(infinity) : 1.0; }),
                           nan_checker<"loss">{on_nan::stop}, probe{&of, "p"});
  auto const done = session.run_to_completion();
  CHECK(done);
  CHECK(done.steps == 2);
  CHECK(written(done.stop.reason) == "loss is inf");
  CHECK(count(of.trace, "after_run p step=2 loss=inf") == 1);
  session.close();
  CHECK(count(of.trace, "end p") == 1);
}

TEST_CASE("of several values the first in the order of the names counts") {
  auto session = tautline::try_monitored(
      step_function([] { return tautline::named_values{value<"a">(1.0f), value<"b">(infinity), value<"c">(nan)}; }),
      nan_checker<"a", "c", "b">{});
  (void)session.try_run();
  CHECK(written(session.status().message) == "c is nan");
  CHECK(session.attached_errors().count() == 0);
}

TEST_CASE("it asks in every run") {
  world of;
  auto session = monitored(scripted(of), nan_checker<"loss">{});
  (void)session.run_steps(2);
  CHECK(count(of.trace, "run 1 loss") == 1);
  CHECK(count(of.trace, "run 2 loss") == 1);
}

TEST_CASE("it comes before savers, whatever the order of the arguments") {
  world of;
  std::vector<step_number> saved;
  auto session = tautline::try_monitored(
      scripted(of, [](long run) { return run == 3 ? static_cast<double>(nan) : 1.0; }), saver_probe{&saved},
      nan_checker<"loss">{});
  (void)session.try_run_to_completion();
  CHECK(saved == std::vector<step_number>{1, 2});
}
