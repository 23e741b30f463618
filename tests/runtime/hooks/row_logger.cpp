// SPDX-License-Identifier: BSL-1.0
#include <limits>

#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/row_logger.hpp>
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

/// Trains on 1, 2, 3, … and gives the file's text.
template <class Trigger>
std::string csv_of(Trigger given, int steps) {
  folder const in;
  auto session = monitored(listed_graph(counted(steps)), csv_logger<"loss">{in / "a.csv", given});
  (void)session.run_to_completion(target<"train">);
  session.close();
  return contents(in / "a.csv");
}

struct row_fails {
  step_number at;
  void after_run(auto& ctx) const {
    if (ctx.step() == at) ctx.fail(error_kind::internal, "enough");
  }
};

}  // namespace

TEST_CASE("rows are written in the steps of the trigger, and the last one once") {
  CHECK(csv_of(every_steps{3}, 7) == "step,loss\n3,3\n6,6\n");
  CHECK(csv_of(every_steps{3} | at_end, 7) == "step,loss\n3,3\n6,6\n7,7\n");
  CHECK(csv_of(every_steps{3} | at_end, 6) == "step,loss\n3,3\n6,6\n");
  CHECK(csv_of(every_steps{.period = 3, .also_first = true}, 7) == "step,loss\n1,1\n3,3\n6,6\n");
  CHECK(csv_of(at_steps{2, 5}, 7) == "step,loss\n2,2\n5,5\n");
  CHECK(csv_of(at_end, 4) == "step,loss\n4,4\n");
  CHECK(csv_of(never, 4).empty());
}

TEST_CASE("JSON lines, with the digits of each type; NaN is null") {
  folder const in;
  auto session = monitored(listed_graph({0.1, nan, 3}), jsonl_logger<"loss", "half">{in / "a.jsonl", every_steps{2} | at_end});
  (void)session.run_to_completion(target<"train">);
  session.close();
  CHECK(contents(in / "a.jsonl") == "{\"step\":2,\"loss\":null,\"half\":null}\n{\"step\":3,\"loss\":3,\"half\":1.5}\n");
  folder const other;
  auto floats = monitored(listed_graph({0.2}), jsonl_logger<"half">{other / "a.jsonl", at_end});
  (void)floats.run_to_completion(target<"train">);
  floats.close();
  CHECK(contents(other / "a.jsonl") == "{\"step\":1,\"half\":0.1}\n");  // a float's digits, also from the copy for the end
}

TEST_CASE("values are fetched in the runs that are due, or in all if the last one may be shown") {
  folder const in;
  for (bool const ending : {false, true}) {
    world of;
    of.input_length = 3;
    any_trigger const given = ending ? any_trigger(every_steps{2} | at_end) : any_trigger(every_steps{2});
    auto session = monitored(scripted(of), csv_logger<"loss">{in / (ending ? "b.csv" : "a.csv"), given});
    (void)session.run_to_completion();
    CHECK(count(of.trace, "run 1 loss") == (ending ? 1 : 0));
    CHECK(count(of.trace, "run 2 loss") == 1);
  }
  world of;
  of.input_length = 3;
  auto session = monitored(scripted(of), csv_logger<"loss">::with(in / "c.csv", every_steps{3}));
  (void)session.run_to_completion();
  CHECK(count(of.trace, "run 1 loss") + count(of.trace, "run 2 loss") == 0);
  CHECK(count(of.trace, "run 3 loss") == 1);
}

TEST_CASE("killed at any step and resumed, the files have the bytes of an uninterrupted training") {
  auto const train = [](folder const& in, memory_store& store, int steps, bool killed, row_options how) {
    auto session = monitored(listed_graph(counted(20)), options{restore_from{store}}, stop_at_step{17},
                             csv_logger<"loss", "half">{in / "a.csv", every_steps{2} | at_end, how},
                             jsonl_logger<"loss">{in / "a.jsonl", every_steps{.period = 3, .also_first = true}, how},
                             memory_saver{&store, every_steps{4}});
    (void)session.run_steps(steps, target<"train">);
    if (killed) {
      session.abandon();
    } else {
      session.close();
    }
  };
  for (std::uint32_t const group : {1U, 3U}) {
    row_options const how{.existing = existing_file::start_over, .flush_every = group};
    folder const whole;
    memory_store unused;
    train(whole, unused, 100, false, how);
    CHECK(contents(whole / "a.csv").find("\n17,17,8.5\n") != std::string::npos);
    for (int killed = 1; killed < 17; ++killed) {
      CAPTURE(killed);
      folder const in;
      memory_store store;
      train(in, store, killed, true, how);
      train(in, store, 100, false, how);
      CHECK(contents(in / "a.csv") == contents(whole / "a.csv"));
      CHECK(contents(in / "a.jsonl") == contents(whole / "a.jsonl"));
    }
  }
}

TEST_CASE("a recovery and a way back take rows back with the variables") {
  folder const in;
  world of;
  of.in_run = broken_in(7);
  memory_store store;
  {
    auto session = monitored(scripted(of), options{restore_from{store}}, stop_at_step{8}, csv_logger<"loss">{in / "a.csv"},
                             memory_saver{&store, every_steps{5}});
    (void)session.run_to_completion();
  }
  // run 7 was to be step 7; the session goes on at step 5, whose next runs are 8, 9, 10
  CHECK(contents(in / "a.csv") == "step,loss\n1,1\n2,0.5\n3,0.3333333333333333\n4,0.25\n5,0.2\n6,0.125\n7,0.1111111111111111\n8,0.1\n");
  memory_store other;
  auto session = monitored(listed_graph({1, 2, 3, nan}), options{restore_from{other}}, csv_logger<"loss">{in / "b.csv"},
                           nan_checker<"loss">::with(roll_back_at_most{1}), memory_saver{&other, every_steps{2}});
  CHECK(session.try_run_to_completion(target<"train">).error == error_kind::nan);
  CHECK(other.restores == 1);
  CHECK(contents(in / "b.csv") == "step,loss\n1,1\n2,2\n3,3\n");  // step 3 was written twice
}

TEST_CASE("an error elsewhere: what was logged before it is in the file") {
  folder const in;
  auto session = monitored(listed_graph(counted(9)), csv_logger<"loss">{in / "a.csv", every_steps{}, {.flush_every = 100}}, row_fails{4});
  CHECK(session.try_run_to_completion(target<"train">).error == error_kind::internal);
  CHECK(contents(in / "a.csv") == "step,loss\n1,1\n2,2\n3,3\n4,4\n");
}

TEST_CASE("what goes wrong with the file is an error of the hook") {
  auto session = try_monitored(listed_graph(counted(9)), csv_logger<"loss">{"/dev/full", every_steps{2}});
  CHECK(session.try_run_to_completion(target<"train">).error == error_kind::error);
  CHECK(session.status().step == 2);
  CHECK(session.status().where == callback::after_run);
  CHECK(contains(written(session.status().message), "cannot write /dev/full"));
  auto at_last = try_monitored(listed_graph(counted(3)), jsonl_logger<"loss">{"/dev/full", at_end});
  (void)at_last.try_run_to_completion(target<"train">);
  (void)at_last.try_close();
  CHECK(at_last.status().where == callback::end);
}

TEST_CASE("a file that cannot be made, or is another one") {
  folder const in;
  file_support::put(in / "a.csv", "step,accuracy\n1,0.5\n");
  std::string said = file_support::thrown_by([&] {
    auto session = try_monitored(listed_graph(counted(2)), csv_logger<"loss">{in / "a.csv"});
    if (!TAUTLINE_EXCEPTIONS) CHECK(contains(written(session.status().message), "a.csv"));
  });
  if (TAUTLINE_EXCEPTIONS) CHECK(contains(said, "column 2 of the file is \"accuracy\", here it is \"loss\""));
  CHECK(contents(in / "a.csv") == "step,accuracy\n1,0.5\n");
  // a folder that is missing is made, but not where a file is
  { auto session = monitored(listed_graph(counted(2)), jsonl_logger<"loss">{in / "new/folder/a.jsonl"}); }
  CHECK(std::filesystem::exists(in / "new/folder/a.jsonl"));
  file_support::put(in / "file", "");
  said = file_support::thrown_by([&] {
    auto session = try_monitored(listed_graph(counted(2)), jsonl_logger<"loss">{in / "file/a.jsonl"});
    if (!TAUTLINE_EXCEPTIONS) CHECK(session.status().where == callback::begin);
  });
  if (TAUTLINE_EXCEPTIONS) CHECK(contains(said, "cannot open"));
}

TEST_CASE("a trigger that needs a clock, in a session that has none") {
  folder const in;
  auto session = try_monitored(listed_graph(counted(2)), csv_logger<"loss">{in / "a.csv", every_seconds{1}});
  CHECK(session.status().kind == error_kind::invalid_argument);
  CHECK(session.status().where == callback::after_create_session);
}

TEST_CASE("several of them") {
  folder const in;
  auto session = monitored(listed_graph(counted(4)), csv_logger<"loss">{in / "a.csv", every_steps{2}},
                           named<"other">(csv_logger<"loss">{in / "b.csv", every_steps{3}}),
                           jsonl_logger<"loss">{in / "c.jsonl", every_steps{4}});
  (void)session.run_to_completion(target<"train">);
  session.close();
  CHECK(contents(in / "a.csv") == "step,loss\n2,2\n4,4\n");
  CHECK(contents(in / "b.csv") == "step,loss\n3,3\n");
  CHECK(contents(in / "c.jsonl") == "{\"step\":4,\"loss\":4}\n");
}
