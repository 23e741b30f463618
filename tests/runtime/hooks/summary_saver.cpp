// SPDX-License-Identifier: BSL-1.0
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>

#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/hooks/summary_saver.hpp>
#include <tautline/hooks/summary_writer_add_on.hpp>
#include <tautline/io/jsonl_file.hpp>

#include "../io/file_support.hpp"
#include "listed_graph.hpp"
#include "memory_store.hpp"
#include "support.hpp"

using namespace support;
using namespace tautline;
using support::target;

namespace {

/// Writes down what it is asked to write, and fails when it is told to.
struct full_writer {
  lines all;
  std::string failing = {};
  tautline::status now = {};

  void add_scalar(std::string_view tag, double value, step_number step) { say(std::string(tag) + "@" + number(step) + "=" + number(value)); }
  int add_histogram(std::string_view tag, std::span<double const> numbers, step_number step) {
    std::string line = std::string(tag) + "@" + number(step) + "=[";
    for (double const each : numbers) line += number(each) + ",";
    say(line + "]");
    return 7;  // what a writer returns does not matter
  }
  void add_text(std::string_view tag, std::string_view markdown, step_number step) {
    say(std::string(tag) + "@" + number(step) + "=" + std::string(markdown));
  }
  void add_image(std::string_view tag, std::span<std::uint8_t const> png, int width, int height, step_number step) {
    say(std::string(tag) + "@" + number(step) + "=" + std::to_string(png.size()) + " bytes " + std::to_string(width) + "x" + std::to_string(height));
  }
  void add_graph(training_state const& state) {
    std::string line = "graph";
    state.each_node([&](node_info const& node) { line += std::string(" ") + node.name; });
    say(line);
  }
  void mark_restart(step_number completed) { say("restart " + number(completed)); }
  void flush() { say("flush"); }
  [[nodiscard]] tautline::status status() const { return now; }

 private:
  void say(std::string const& line) {
    all.push_back(line);
    if (failing.empty() || !contains(line, failing)) return;
    now = {error_kind::unavailable, "the disk is full"};
#if TAUTLINE_EXCEPTIONS
    throw std::runtime_error("the disk is full");
#endif
  }
};

struct plain_writer {
  lines all;
  void add_scalar(std::string_view tag, double value, step_number step) { all.push_back(std::string(tag) + "@" + number(step) + "=" + number(value)); }
};

template <class Trigger>
std::string written_by(Trigger given, int steps) {
  full_writer out;
  auto session = monitored(listed_graph(counted(steps)), summary_saver<"loss">{out, given});
  (void)session.run_to_completion(target<"train">);
  session.close();
  std::string text;
  for (std::string const& line : out.all) {
    if (contains(line, "@")) text += line + " ";
  }
  return text;
}

struct publisher {
  using provides = tautline::provides<"accuracy", float>;
  void after_run(auto& ctx) const {
    if (ctx.step() % 2 == 0) ctx.template publish<"accuracy">(0.5F);
  }
};

struct fails_at {
  step_number step;
  void after_run(auto& ctx) const {
    if (ctx.step() == step) ctx.fail(error_kind::internal, "enough");
  }
};

struct norm_writer : summary_writer_add_on {
  using summary_writer_add_on::summary_writer_add_on;
  auto before_run(auto&) { return fetch<"both">; }
  void after_run(auto& ctx, auto& values) {
    auto const& both = values[fetch<"both">];
    write_scalar("norm", both[0], ctx.step());
    write_histogram("both", both, ctx.step());
    write_text("note", "*hello*", ctx.step());
    std::uint8_t const bytes[] = {1, 2, 3};
    write_image("picture", bytes, 1, 2, ctx.step());
  }
  void end(auto&) { flush_summaries(); }
};

}  // namespace

TEST_CASE("values are written in the steps of the trigger, and the last ones once") {
  CHECK(written_by(every_steps{3}, 7) == "loss@3=3 loss@6=6 ");
  CHECK(written_by(every_steps{3} | at_end, 7) == "loss@3=3 loss@6=6 loss@7=7 ");
  CHECK(written_by(every_steps{3} | at_end, 6) == "loss@3=3 loss@6=6 ");
  CHECK(written_by(every_steps{.period = 3, .also_first = true}, 4) == "loss@1=1 loss@3=3 ");
  CHECK(written_by(at_end, 4) == "loss@4=4 ");
  CHECK(written_by(never, 4).empty());
}

TEST_CASE("a mark and the graph first, scalars and histograms, and a flush in the end") {
  full_writer out;
  auto session = monitored(listed_graph({1, std::numeric_limits<double>::infinity()}), summary_saver<"loss", "both">{out, every_steps{1}});
  (void)session.run_to_completion(target<"train">);
  session.close();
  CHECK(joined(out.all) == joined({"restart 0", "graph w rate x loss half both train", "loss@1=1", "both@1=[1,-1,]", "loss@2=inf",
                                   "both@2=[inf,-inf,]", "flush", "flush"}));
}

TEST_CASE("a recovery and a resumed training leave a mark, and the graph is written once for each") {
  world of;
  of.in_run = broken_in(4);
  of.first_step = 5;
  full_writer out;
  {
    auto session = monitored(scripted(of), summary_saver<"loss">{out, every_steps{}}, stop_at_step{7});
    (void)session.run_to_completion();
  }
  of.runs = 10;
  auto const recovered = out.all;
  CHECK(count(recovered, "restart 5") == 1);
  memory_store store;
  out.all.clear();
  for (int i = 0; i < 2; ++i) {
    auto session = monitored(listed_graph(counted(9)), options{restore_from{store}}, summary_saver<"loss">{out, every_steps{2} | at_end},
                             memory_saver{&store, every_steps{3}});
    (void)session.run_steps(i == 0 ? 5 : 100, target<"train">);
    if (i == 0) {
      session.abandon();
    } else {
      session.close();
    }
  }
  lines wanted{"restart 0", "loss@2=2", "loss@4=4", "flush", "restart 3", "loss@4=4", "loss@6=6", "loss@8=8", "loss@9=9", "flush", "flush"};
  lines got;
  for (std::string const& line : out.all) {
    if (!contains(line, "graph")) got.push_back(line);
  }
  CHECK(joined(got) == joined(wanted));
  CHECK(out.all.size() == wanted.size() + 2);
}

TEST_CASE("a session made anew is marked, too") {
  world of;
  of.in_run = broken_in(4);
  full_writer out;
  memory_store store;
  auto session = monitored(scripted(of), options{restore_from{store}}, summary_saver<"loss">{out, every_steps{}}, stop_at_step{4},
                           memory_saver{&store, every_steps{2}});
  (void)session.run_to_completion();
  lines got;
  for (std::string const& line : out.all) {
    if (!contains(line, "graph")) got.push_back(line.substr(0, line.find('=')));
  }
  CHECK(joined(got) == joined({"restart 0", "loss@1", "loss@2", "loss@3", "restart 2", "loss@3", "loss@4"}));
}

TEST_CASE("what another hook publishes is written in the runs in which it does") {
  full_writer out;
  auto session = monitored(listed_graph(counted(5)), summary_saver<"accuracy">{out, every_steps{}}, publisher{});
  (void)session.run_to_completion(target<"train">);
  CHECK(count(out.all, "accuracy@2=0.5") == 1);
  CHECK(count(out.all, "accuracy@4=0.5") == 1);
  CHECK(out.all.size() == 4);
}

TEST_CASE("writers that can do less, by reference and shared") {
  plain_writer plain;
  auto const shared = std::make_shared<plain_writer>();
  {
    auto session = monitored(listed_graph(counted(2)), summary_saver<"loss", "both">{plain, every_steps{1}},
                             named<"shared">(summary_saver<"loss">::with(shared, every_steps{2})));
    (void)session.run_to_completion(target<"train">);
  }
  CHECK(joined(plain.all) == joined({"loss@1=1", "loss@2=2"}));
  CHECK(joined(shared->all) == joined({"loss@2=2"}));
  any_summary_writer const kept(shared);
  CHECK_FALSE(kept.add_histogram("x", {}, 1));
  CHECK_FALSE(kept.add_text("x", "y", 1));
  CHECK_FALSE(kept.add_image("x", {}, 1, 1, 1));
  CHECK(kept.status().ok());
  any_summary_writer const copy(kept);
  copy.add_scalar("x", 1, 2);
  CHECK(shared->all.back() == "x@2=1");
}

TEST_CASE("the mix-in writes beside what a hook does, or is silent") {
  full_writer out;
  auto session = monitored(listed_graph({3}), norm_writer{out}, named<"silent">(norm_writer{}));
  CHECK(session.hook<"silent">().writes_summaries() == false);
  (void)session.run_to_completion(target<"train">);
  session.close();
  CHECK(joined(out.all) == joined({"norm@1=3", "both@1=[3,-3,]", "note@1=*hello*", "picture@1=3 bytes 1x2", "flush"}));
}

TEST_CASE("values are fetched in the runs that are due, or in all if the last one may be shown") {
  for (bool const ending : {false, true}) {
    world of;
    of.input_length = 3;
    plain_writer out;
    any_trigger const given = ending ? any_trigger(every_steps{2} | at_end) : any_trigger(every_steps{2});
    auto session = monitored(scripted(of), summary_saver<"loss">{out, given});
    (void)session.run_to_completion();
    CHECK(count(of.trace, "run 1 loss") == (ending ? 1 : 0));
  }
}

TEST_CASE("what goes wrong in the writer is an error of the hook, wherever it does") {
  for (auto const& [failing, where] : {std::pair{"restart", callback::after_create_session}, std::pair{"graph", callback::after_create_session},
                                       std::pair{"loss@2", callback::after_run}, std::pair{"loss@3", callback::end}}) {
    CAPTURE(failing);
    full_writer out;
    out.failing = failing;
    auto session = try_monitored(listed_graph(counted(3)), summary_saver<"loss">{out, every_steps{2} | at_end});
    if (session.is_open()) (void)session.try_run_to_completion(target<"train">);
    (void)session.try_close();
    CHECK(session.status().where == where);
    CHECK(contains(session.status().hook, "summary_saver"));
    CHECK(written(session.status().message) == "the disk is full");
  }
}

TEST_CASE("after an error elsewhere the writer is flushed") {
  full_writer out;
  auto session = try_monitored(listed_graph(counted(3)), summary_saver<"loss">{out, every_steps{}}, fails_at{2});
  CHECK(session.try_run_to_completion(target<"train">).error == error_kind::internal);
  CHECK(out.all.back() == "flush");
  CHECK(count(out.all, "loss@2=2") == 1);
}

TEST_CASE("a trigger that needs a clock, in a session that has none") {
  plain_writer out;
  auto session = try_monitored(listed_graph(counted(2)), summary_saver<"loss">{out, every_seconds{1}});
  CHECK(session.status().kind == error_kind::invalid_argument);
}
