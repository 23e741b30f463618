// SPDX-License-Identifier: BSL-1.0
#include <cmath>

#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/training/monitored_training_session.hpp>

#include "../core/training.hpp"
#include "../io/training.hpp"

// What a training gets without asking for it, and what it can have otherwise.

namespace {

using namespace training;
using io_test::content;
using io_test::names_in;
using io_test::scratch;
using tautline::at_end;
using tautline::background_checkpoints;
using tautline::checkpoint_saver;
using tautline::every_steps;
using tautline::loss;
using tautline::metrics;
using tautline::model;
using tautline::monitored_training_session;
using tautline::role;
using tautline::stop_at_step;
using tautline::training_settings;
using tautline::with_clock;
namespace fs = std::filesystem;

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

using net = model<loss<"loss">, metrics<"late">>;

std::string checkpoints_in(std::string const& folder) {
  tautline::checkpoint_store store(folder + "/checkpoints", tautline::keep_all{}, {.read_only = true});
  std::string made;
  for (auto const& each : store.entries()) made += (made.empty() ? "" : " ") + number(each.step);
  return made;
}
std::string event_files_in(std::string const& folder) {
  std::string all;
  for (std::string const& name : names_in(folder)) {
    if (name.find("tfevents") != std::string::npos) all += content(folder + "/" + name);
  }
  return all;
}

/// Time passes by steps: 1 second each.
struct step_clock {
  std::uint64_t* ticks;
  [[nodiscard]] std::uint64_t now() const { return *ticks; }
  static constexpr std::uint64_t ticks_per_second() { return 1; }
};
struct tick {
  static constexpr bool stateless = true;
  std::uint64_t* ticks;
  void before_run(auto&) const { ++*ticks; }
};

TEST_CASE("a training is restored, trains, says why it stopped, and leaves checkpoints and events") {
  scratch folder;
  lines said;
  training_settings const settings{.directory = folder / "run",
                                   .save_checkpoint_steps = 10,
                                   .save_summaries_steps = 5,
                                   .log_step_count_steps = 10,
                                   .log = [&](std::string_view line) { said.emplace_back(line); }};
  {
    auto training = monitored_training_session<net>(summing(), settings, stop_at_step{25});
    auto const done = training->run_to_completion(target<"train">);
    CHECK(done.stop.step == 25);
    CHECK(contains(done.stop.by, "stop_at_step"));
    CHECK(training.checkpoints() != nullptr);
    CHECK(training.events() != nullptr);
  }
  CHECK(checkpoints_in(folder / "run") == "10 20 25");
  CHECK(fs::exists(folder / "run/checkpoints/latest"));
  std::string const events = event_files_in(folder / "run");
  CHECK(contains(events, "loss"));
  CHECK(contains(events, "late"));
  CHECK(contains(events, "global_step/sec"));
  int losses = 0, rates = 0;
  for (std::string const& line : said) {
    losses += contains(line, "Loss: ") ? 1 : 0;
    rates += contains(line, "global_step/sec") ? 1 : 0;
  }
  CHECK(losses == 2);
  CHECK(rates >= 1);
  {
    auto training = monitored_training_session<net>(summing(), settings, stop_at_step{30});
    CHECK(training->completed_steps() == 25);
    (void)training->run_to_completion(target<"train">);
  }
  CHECK(checkpoints_in(folder / "run") == "10 20 25 30");
}

TEST_CASE("so many checkpoints stay as the settings say") {
  scratch folder;
  {
    auto training = monitored_training_session(summing(), {.directory = folder.path, .save_checkpoint_steps = 2, .keep_checkpoints = 3, .log = false});
    (void)training->run_steps(11, target<"train">);
  }
  CHECK(checkpoints_in(folder.path) == "8 10 11");
}

TEST_CASE("without a directory nothing is written, and a training is one all the same") {
  scratch folder;
  fs::path const before = fs::current_path();
  fs::current_path(folder.path);
  {
    auto training = monitored_training_session<net>(summing(), {.log = false});
    auto const result = training->run(target<"train">, fetch<"loss">);
    CHECK(result[fetch<"loss">] == 0);
    CHECK(training.checkpoints() == nullptr);
    CHECK(training.events() == nullptr);
  }
  CHECK(names_in(folder.path).empty());
  fs::current_path(before);
}

TEST_CASE("event files may have a folder of their own") {
  scratch folder;
  {
    auto training = monitored_training_session<net>(summing(), {.directory = folder / "a", .summary_directory = folder / "b", .log = false});
    (void)training->run(target<"train">);
  }
  CHECK(fs::exists(folder / "a/checkpoints"));
  CHECK(event_files_in(folder / "a").empty());
  CHECK_FALSE(event_files_in(folder / "b").empty());
}

std::string saved_with(training_settings settings, std::int64_t steps) {
  scratch folder;
  settings.directory = folder.path;
  settings.log = false;
  std::uint64_t ticks = 0;
  {
    auto training = monitored_training_session(summing(), settings, options{with_clock{step_clock{&ticks}}}, tick{&ticks});
    (void)training->run_steps(steps, target<"train">);
  }
  return checkpoints_in(folder.path);
}

TEST_CASE("intervals by steps, by seconds of the session's clock, and 600 seconds without either") {
  CHECK(saved_with({.save_checkpoint_steps = 4}, 9) == "4 8 9");
  CHECK(saved_with({.save_checkpoint_seconds = 4.0, .keep_checkpoints = 9}, 12) == "5 10 12");
  CHECK(saved_with({}, 700) == "601 700");
  CHECK(saved_with({.save_checkpoint_steps = 0}, 9).empty());
  CHECK(saved_with({.save_checkpoint_seconds = 0.0}, 9).empty());
  CHECK(saved_with({.save_checkpoint_steps = 4, .save_checkpoint_seconds = 0.0}, 9) == "4 8 9");
}

#if TAUTLINE_EXCEPTIONS
std::string error_of(auto make) {
  try {
    auto training = make();
  } catch (tautline::exception const& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
  return "";
}

TEST_CASE("both intervals are refused") {
  scratch folder;
  std::string const error = error_of([&] {
    return monitored_training_session(summing(), {.directory = folder.path, .save_checkpoint_steps = 4, .save_checkpoint_seconds = 4.0, .log = false});
  });
  CHECK(error.rfind("invalid_argument: checkpoints are to be saved by steps and by seconds. Mend: set one of the two intervals", 0) == 0);
}

TEST_CASE("a folder that another training has is refused with the process") {
  scratch folder;
  training_settings const settings{.directory = folder.path, .log = false};
  auto training = monitored_training_session(summing(), settings);
  std::string const error = error_of([&] { return monitored_training_session(summing(), settings); });
  CHECK(error.rfind("busy: ", 0) == 0);
  CHECK(contains(error, folder.path));
  CHECK(contains(error, number(step_number{::getpid()})));
}

TEST_CASE("a worker whose chief saves nothing waits for so long, and says so") {
  scratch folder;
  std::string const error = error_of([&] {
    return monitored_training_session(summing(), {.directory = folder.path, .role = role::worker, .max_wait = std::chrono::seconds(0), .log = false});
  });
  CHECK(error.rfind("invalid_argument: the chief has saved nothing in " + folder.path + "/checkpoints within the time to wait", 0) == 0);
}

TEST_CASE("a worker does not wait for a checkpoint of another graph to become one of its own") {
  scratch folder;
  {
    auto other = tautline::static_graph{}.variable<"v">(0.0F).update<"train", "v">([](float& v) { v += 1; });
    auto training = monitored_training_session(other, {.directory = folder.path, .log = false});
    (void)training->run(target<"train">);
  }
  std::string const error = error_of([&] {
    return monitored_training_session(summing(), {.directory = folder.path, .role = role::worker, .log = false});
  });
  CHECK(error.rfind("invalid_argument: ", 0) == 0);
  CHECK(contains(error, "variable/w is not in the checkpoint"));
}

/// Makes the loss NaN.
struct breaks {
  static constexpr bool stateless = true;
  void after_run(auto& ctx) {
    ctx.session().state().each([](state_item const& item) {
      if (name_of(item) == "variable/w") *static_cast<float*>(item.view.data) = NAN;
    });
  }
};
TEST_CASE("a model is checked; a checker that is given takes the place of that") {
  {
    auto training = monitored_training_session<net>(summing(), {.log = false}, breaks{});
    CHECK_THROWS_AS((void)training->run_steps(5, target<"train">), tautline::nan_error);
  }
  auto training = monitored_training_session<net>(summing(), {.log = false}, breaks{}, tautline::nan_checker<"loss">{tautline::on_nan::stop});
  (void)training->run_to_completion(target<"train">);
  CHECK(contains(training->stop().by, "nan_checker"));
}
#endif

struct counts {
  int count = 0;
  auto state() { return fields{field<"count">(count)}; }
  void after_run(auto&) { ++count; }
};
TEST_CASE("a worker begins from what the chief has saved, and writes nothing") {
  scratch folder;
  training_settings settings{.directory = folder.path, .save_checkpoint_steps = 5, .log = false};
  {
    auto chief = monitored_training_session<net>(summing(), settings, stop_at_step{7});
    (void)chief->run_to_completion(target<"train">);
  }
  auto const before = names_in(folder.path);
  settings.role = role::worker;
  {
    auto worker = monitored_training_session<net>(summing(), settings, counts{}, stop_at_step{7});
    CHECK(worker->completed_steps() == 7);
    CHECK(worker.checkpoints() == nullptr);
  }
  {
    auto worker = monitored_training_session<net>(summing(), settings);
    (void)worker->run_steps(20, target<"train">);
    CHECK(worker.events() == nullptr);
  }
  CHECK(names_in(folder.path) == before);
  CHECK(checkpoints_in(folder.path) == "5 7");
}

TEST_CASE("a worker waits for the chief's first checkpoint") {
  scratch folder;
  std::thread chief([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    background_checkpoints saved(folder / "checkpoints");
    auto session = monitored(summing(), checkpoint_saver{saved, at_end});
    (void)session.run_steps(3, target<"train">);
  });
  {
    auto worker = monitored_training_session(summing(), {.directory = folder.path, .role = role::worker, .max_wait = std::chrono::seconds(60), .log = false});
    CHECK(worker->completed_steps() == 3);
  }
  chief.join();
}

TEST_CASE("a saver that is given takes the place of the default one, with the restorer that is given with it") {
  scratch folder;
  background_checkpoints saved(folder / "checkpoints", tautline::keep_all{});
  for (step_number const last : {3, 6}) {
    auto training = monitored_training_session(summing(), {.directory = folder.path, .save_checkpoint_steps = 1, .log = false},
                                               options{restore_from{saved}}, checkpoint_saver{saved, every_steps{2}}, stop_at_step{last});
    (void)training->run_to_completion(target<"train">);
    CHECK(training.checkpoints() == nullptr);
  }
  CHECK(checkpoints_in(folder.path) == "2 4 6");
}

}  // namespace
