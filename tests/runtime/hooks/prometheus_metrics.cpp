// SPDX-License-Identifier: BSL-1.0
#include <filesystem>
#include <limits>

#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/prometheus_metrics.hpp>
#include <tautline/hooks/stop_at_step.hpp>

#include "../io/file_support.hpp"
#include "listed_graph.hpp"
#include "memory_store.hpp"
#include "support.hpp"

using namespace support;
using namespace tautline;
using file_support::contents;
using file_support::folder;
using support::target;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What the file says of a metric; empty if it has none.
std::string said_of(std::string const& path, std::string const& metric) {
  std::string text = "\n";
  text += contents(path);  // "\n" + a temporary: a false alarm of g++ 12 at -O2
  std::size_t const at = text.find("\n" + metric + " ");
  if (at == std::string::npos) return "";
  std::size_t const begin = at + metric.size() + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// Reads the file behind each step.
struct reader {
  using runs_after = hooks<prometheus_metrics<"loss">>;
  std::string path;
  lines* seen;
  void before_run(auto&) {
    if (seen->empty()) look();
  }
  void after_run(auto&) { look(); }
  void look() const {
    std::string line;
    for (char const* metric : {"tautline_steps_total", "tautline_step", "tautline_running", "tautline_loss"}) {
      line += said_of(path, metric) + " ";
    }
    seen->push_back(line);
  }
};

struct fails_at {
  step_number step;
  void after_run(auto& ctx) const {
    if (ctx.step() == step) ctx.fail(error_kind::internal, "enough");
  }
};
struct removes_at {
  std::string what;
  step_number step;
  void before_run(auto& ctx) const {
    if (ctx.step() == step) std::filesystem::remove_all(what);
  }
};

}  // namespace

TEST_CASE("the file is written when a session is made, in the steps of the trigger, and in close") {
  folder const in;
  std::string const path = in / "a.prom";
  lines seen;
  auto session = monitored(listed_graph({5, 4, 3, 2, nan}), prometheus_metrics<"loss">{path, every_steps{2}}, reader{path, &seen});
  (void)session.run_to_completion(target<"train">);
  CHECK(joined(seen) == joined({"0 0 1 NaN ", "0 0 1 NaN ", "2 2 1 4 ", "2 2 1 4 ", "4 4 1 2 ", "4 4 1 2 "}));
  session.close();
  CHECK(said_of(path, "tautline_steps_total") == "5");
  CHECK(said_of(path, "tautline_running") == "0");
  CHECK(said_of(path, "tautline_failures_total") == "0");
}

TEST_CASE("names become metrics, labels stand at each, NaN is written") {
  folder const in;
  std::string const path = in / "a.prom";
  auto graph = listed_graph({nan}).op<"validation/top-1", "x">([](double x) { return x; });
  auto session = monitored(std::move(graph), prometheus_metrics<"validation/top-1", "half">{path, every_steps{}, prometheus_label<"run">("a b")});
  (void)session.run_to_completion(target<"train">);
  CHECK(said_of(path, "tautline_validation_top_1{run=\"a b\"}") == "NaN");
  CHECK(said_of(path, "tautline_step{run=\"a b\"}") == "1");
  CHECK(contains(contents(path), "# HELP tautline_validation_top_1 validation/top-1, as it was"));
}

TEST_CASE("without names it counts, and asks for nothing") {
  folder const in;
  world of;
  of.input_length = 3;
  auto session = monitored(scripted(of), prometheus_metrics<>{in / "a.prom", every_steps{1}});
  (void)session.run_to_completion();
  CHECK(count(of.trace, "run 1") == 1);
  CHECK(said_of(in / "a.prom", "tautline_steps_total") == "3");
}

TEST_CASE("values are fetched in the runs that are due only") {
  folder const in;
  world of;
  of.input_length = 3;
  auto session = monitored(scripted(of), prometheus_metrics<"loss">{in / "a.prom", every_steps{2}});
  (void)session.run_to_completion();
  CHECK(count(of.trace, "run 1") == 1);
  CHECK(count(of.trace, "run 2 loss") == 1);
}

TEST_CASE("killed and resumed, the counters end as those of an uninterrupted training") {
  auto const train = [](folder const& in, memory_store& store, int steps, bool killed) {
    auto session = monitored(listed_graph(counted(20)), options{restore_from{store}}, stop_at_step{11},
                             prometheus_metrics<"loss">{in / "a.prom", every_steps{2}}, memory_saver{&store, every_steps{4}});
    (void)session.run_steps(steps, target<"train">);
    if (killed) {
      session.abandon();
    } else {
      session.close();
    }
  };
  folder const whole;
  memory_store unused;
  train(whole, unused, 100, false);
  for (int killed = 4; killed < 11; ++killed) {
    folder const in;
    memory_store store;
    train(in, store, killed, true);
    train(in, store, 100, false);
    CHECK(contents(in / "a.prom") == contents(whole / "a.prom"));
  }
}

TEST_CASE("counters do not fall when a training is taken back, and the failure is counted") {
  folder const in;
  world of;
  of.in_run = broken_in(8);
  memory_store store;
  {
    // steps are counted in every third only: those before the failure must not be lost
    auto session = monitored(scripted(of), options{restore_from{store}}, stop_at_step{9},
                             prometheus_metrics<>{in / "a.prom", every_steps{3}}, memory_saver{&store, every_steps{5}});
    (void)session.run_to_completion();
  }
  CHECK(said_of(in / "a.prom", "tautline_steps_total") == "11");  // 7, and from 5 on 4 more
  CHECK(said_of(in / "a.prom", "tautline_step") == "9");
  CHECK(said_of(in / "a.prom", "tautline_failures_total") == "1");
  bool kept = true;
  for (auto const& [name, value] : store.values) {
    if (contains(name, "/metrics/")) kept = kept && value.kept;
  }
  CHECK(kept);
  memory_store other;
  auto session = monitored(listed_graph({1, 2, 3, nan}), options{restore_from{other}}, prometheus_metrics<"loss">{in / "b.prom", every_steps{}},
                           nan_checker<"loss">::with(roll_back_at_most{1}), memory_saver{&other, every_steps{2}});
  (void)session.try_run_to_completion(target<"train">);
  CHECK(said_of(in / "b.prom", "tautline_steps_total") == "4");
  CHECK(said_of(in / "b.prom", "tautline_failures_total") == "2");  // gone back, and failed
}

TEST_CASE("begin forgets the counters") {
  folder const in;
  prometheus_metrics<"loss"> metrics{in / "a.prom", every_steps{}};
  for (int i = 0; i < 2; ++i) {
    auto session = monitored(listed_graph(counted(3)), std::ref(metrics));
    CHECK(said_of(in / "a.prom", "tautline_loss") == "NaN");
    (void)session.run_to_completion(target<"train">);
  }
  CHECK(said_of(in / "a.prom", "tautline_steps_total") == "3");
}

TEST_CASE("an error elsewhere is counted, and the training runs no more") {
  folder const in;
  auto session = try_monitored(listed_graph(counted(9)), fails_at{4}, prometheus_metrics<>{in / "a.prom", every_steps{100}});  // the hook does not see step 4
  CHECK(session.try_run_to_completion(target<"train">).error == error_kind::internal);
  CHECK(said_of(in / "a.prom", "tautline_failures_total") == "1");
  CHECK(said_of(in / "a.prom", "tautline_running") == "0");
  CHECK(said_of(in / "a.prom", "tautline_steps_total") == "4");
}

TEST_CASE("what goes wrong with the file is an error of the hook") {
  folder const in;
  file_support::put(in / "file", "");
  auto none = try_monitored(listed_graph(counted(3)), prometheus_metrics<>{in / "file/a.prom"});
  CHECK(none.status().kind == error_kind::error);
  CHECK(none.status().where == callback::after_create_session);
  CHECK(contains(written(none.status().message), "a.prom"));
  std::filesystem::create_directory(in / "gone");
  auto session = try_monitored(listed_graph(counted(9)), prometheus_metrics<>{in / "gone/a.prom", every_steps{2}}, removes_at{in / "gone", 3});
  CHECK(session.try_run_to_completion(target<"train">).error == error_kind::error);
  CHECK(session.status().step == 4);
  CHECK(session.status().where == callback::after_run);
}

TEST_CASE("a trigger that needs a clock, in a session that has none") {
  folder const in;
  auto session = try_monitored(listed_graph(counted(2)), prometheus_metrics<>{in / "a.prom", every_seconds{15}});
  CHECK(session.status().kind == error_kind::invalid_argument);
  world of;
  of.ticks_a_run = 400;
  of.input_length = 9;
  auto timed = monitored(scripted(of), options{with_clock{run_clock{&of}}}, prometheus_metrics<>{in / "b.prom", every_seconds{1}});
  (void)timed.run_steps(4);
  CHECK(said_of(in / "b.prom", "tautline_step") == "4");  // a second had passed before the fourth run
}

TEST_CASE("several of them") {
  folder const in;
  auto session = monitored(listed_graph(counted(3)), prometheus_metrics<>{in / "a.prom", every_steps{2}},
                           named<"other">(prometheus_metrics<>{in / "b.prom", every_steps{3}}));
  (void)session.run_steps(3, target<"train">);
  CHECK(said_of(in / "a.prom", "tautline_steps_total") == "2");
  CHECK(said_of(in / "b.prom", "tautline_steps_total") == "3");
}
