// SPDX-License-Identifier: BSL-1.0
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <thread>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/sessions/tensorflow/server.hpp>
#include <tautline/training/tensorflow_training.hpp>

#include <doctest/doctest.h>

#include "training.hpp"

using namespace tensorflow_test;

namespace {

using net = model<loss<"loss">, metrics<>>;

std::string event_files_in(std::string const& folder) {
  std::string all;
  for (auto const& each : fs::directory_iterator(folder)) {
    if (contains(each.path().filename().string(), "tfevents")) all += content(each.path().string());
  }
  return all;
}
/// The steps of the checkpoints that the folder lists.
std::vector<step_number> steps_in(std::string const& folder) {
  std::vector<step_number> steps;
  tensorflow_checkpoints saved{folder, {.report = false, .read_only = true}};
  for (std::string const& each : saved.paths()) steps.push_back(std::stoll(each.substr(each.rfind('-') + 1)));
  return steps;
}
/// A hook that looks at `w` when the training ends.
struct last_w {
  static constexpr bool stateless = true;
  std::vector<float>* w;
  void end(auto& session) const {
    auto const found = session.run(fetch<"w">);
    auto const& last = found[fetch<"w">];
    w->assign(last.begin(), last.end());
  }
};

}  // namespace

TEST_CASE("a training is restored, trains, says why it stopped, and leaves checkpoints as Python has them") {
  scratch folder;
  lines said;
  training_settings const settings{.directory = folder.path,
                                   .save_checkpoint_steps = 10,
                                   .save_summaries_steps = 5,
                                   .log_step_count_steps = 10,
                                   .keep_checkpoints = 3,
                                   .log = [&](std::string_view line) { said.emplace_back(line); }};
  for (step_number const last : {25, 40}) {
    std::vector<float> w;
    auto training = monitored_training_session<net>(approaching(), settings, stop_at_step{last}, last_w{&w});
    CHECK(training->completed_steps() == (last == 25 ? 0 : 25));
    auto const done = training->run_to_completion(target<"train">);
    CHECK(done.stop.step == last);
    CHECK(contains(done.stop.by, "stop_at_step"));
    training->close();
    CHECK(w == w_after(last));
    CHECK(training.checkpoints() != nullptr);
    CHECK(training.events() != nullptr);
  }
  CHECK(steps_in(folder.path) == std::vector<step_number>{25, 30, 40});
  CHECK(!fs::exists(folder / "checkpoints"));
  std::string const events = event_files_in(folder.path);
  for (char const* part : {"loss", "global_step/sec", "VarHandleOp"}) CHECK(contains(events, part));
  int losses = 0;
  for (std::string const& line : said) losses += contains(line, "Loss: ") ? 1 : 0;
  CHECK(losses == 4);
}

TEST_CASE("checkpoints are safetensors, if that is asked for") {
  scratch folder;
  training_settings const settings{.directory = folder.path,
                                   .save_checkpoint_steps = 10,
                                   .checkpoint_format = checkpoint_format::safetensors,
                                   .log = false};
  for (step_number const last : {15, 20}) {
    auto training = monitored_training_session(approaching(), settings, stop_at_step{last});
    CHECK(training->completed_steps() == (last == 15 ? 0 : 15));
    (void)training->run_to_completion(target<"train">);
    CHECK(training.checkpoints() == nullptr);
  }
  CHECK(!fs::exists(folder / "checkpoint"));
  CHECK(contains(names_in(folder / "checkpoints"), "step-000000000020.safetensors"));
  CHECK(contains(event_files_in(folder.path), "VarHandleOp"));  // the graph, without a model, too
}

TEST_CASE("without a directory nothing is written") {
  scratch folder;
  fs::path const before = fs::current_path();
  fs::current_path(folder.path);
  {
    auto training = monitored_training_session<net>(approaching(), {.log = false}, stop_at_step{3});
    CHECK(training->run_to_completion(target<"train">).stop.step == 3);
    CHECK(training.checkpoints() == nullptr);
  }
  fs::current_path(before);
  CHECK(names_in(folder.path).empty());
}

TEST_CASE("an imported graph without a saver gets one") {
  scratch folder;
  auto const bare = [] {
    tensorflow_graph<> made;
    auto ops = made.ops();
    auto const w = ops.variable<float>("w", {2}, 1.0F);
    auto const step = ops.global_step();
    ops.group({ops.assign_add(w, w), ops.assign_add(step, ops.constant(std::int64_t{1}))}, "train");
    (void)ops.init();
    tautline::tensorflow::buffer_handle const bytes(TF_NewBuffer());
    auto const done = tautline::tensorflow::new_status();
    TF_GraphToGraphDef(made.handle(), bytes.get(), done.get());
    return tensorflow_graph<>::from_graph_def_bytes({static_cast<char const*>(bytes->data), bytes->length})
        .value<"w", tensor<float, 1>>()
        .step_target<"train">();
  };
  for (step_number const last : {2, 3}) {
    std::vector<float> w;
    auto training = monitored_training_session(bare(), {.directory = folder.path, .log = false}, stop_at_step{last}, last_w{&w});
    (void)training->run_to_completion(target<"train">);
    training->close();
    CHECK(w.at(0) == float(1 << last));
  }
  CHECK(steps_in(folder.path) == std::vector<step_number>{2, 3});
}

TEST_CASE("a loss that is no number ends a training, and is not saved") {
  scratch folder;
  auto training = monitored_training_session<net>(approaching(), {.directory = folder.path, .save_checkpoint_steps = 1, .log = false});
  training->run_steps(2, target<"train">);
  std::vector<float> const bad{1, std::numeric_limits<float>::quiet_NaN()};
  (void)training->run_without_hooks(target<"give_w">, feed<"w_given">(bad));
  CHECK_THROWS_AS((void)training->run_steps(1, target<"train">), nan_error);
  CHECK(steps_in(folder.path) == std::vector<step_number>{1, 2});
}

TEST_CASE("settings that contradict each other are an error") {
  auto const words_of = [](tautline::tensorflow::session_settings of_graph, training_settings settings) {
    settings.log = false;
    return error_of([&] { (void)monitored_training_session(approaching().settings(std::move(of_graph)), std::move(settings)); });
  };
  using std::chrono::seconds;
  CHECK(contains(words_of({.role = role::worker}, {}), "that this is a worker, and the training's that it is the chief"));
  CHECK(contains(words_of({.max_wait = seconds(3)}, {.max_wait = seconds(4)}), "a max_wait each"));
  CHECK(words_of({.max_wait = seconds(3)}, {}) == "");
  CHECK(words_of({.max_wait = seconds(3)}, {.max_wait = seconds(3)}) == "");
  CHECK(contains(words_of({}, {.save_checkpoint_steps = 1, .save_checkpoint_seconds = 1}), "Mend: set one of the two intervals"));
}

// --- a cluster ------------------------------------------------------------------------------------------------------

namespace {

/// A port that was free a moment ago.
std::string free_address() {
  int const socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  ::close(socket);
  return "localhost:" + std::to_string(ntohs(address.sin_port));
}

/// A parameter server and two workers, in threads of this process, for all tests: they cannot be stopped.
struct machines {
  tautline::tensorflow::cluster all{{"ps", {free_address()}}, {"worker", {free_address(), free_address()}}};
  tautline::tensorflow::server ps{all, "ps", 0};
  tautline::tensorflow::server workers[2]{{all, "worker", 0}, {all, "worker", 1}};
};
machines& machines_of_this_process() {
  static machines made;
  return made;
}

/// As `approaching`, its variables on the parameter server. @param prefix of their names: each test has its own
template <bool Declared = true>
auto spread(std::string const& own, int worker) {
  auto graph = tensorflow_graph<>{};
  auto top = graph.ops().with_device("/job:ps/task:0");
  auto const w = top.variable<float>("w" + own, {2}, 0.0F);
  auto const step = top.variable<std::int64_t>("step" + own, {}, 0, {.trainable = false});
  auto ops = top.with_device("/job:worker/task:" + std::to_string(worker));
  ops.group({ops.assign_add(w, ops.constant({0.5F, 0.5F})), ops.assign_add(step, ops.constant(std::int64_t{1}))}, "train");
  auto declared = std::move(graph).value<"w", tensor<float, 1>>("w" + own).step_target<"train">().settings(
      {.target = machines_of_this_process().workers[worker].target(), .scaffold = {.global_step = "step" + own}});
  if constexpr (Declared) {
    return std::move(declared).template value<"global_step", std::int64_t>("step" + own);
  } else {
    return declared;
  }
}

/// How far the two workers are, that none leaves the other behind, however threads are scheduled.
struct progress {
  std::atomic<step_number> first[2]{}, count[2]{};
  std::atomic<step_number> begun = 0;  // the chief's count when the worker began
  std::atomic<bool> ended[2]{};

  /// Before a step. The chief stands still at step 450 until the other begins; from then on they are a step apart at most.
  void wait_for_other(int me, step_number chief_waits_at) {
    auto const is_ahead = [&] {
      if (ended[1 - me]) return false;
      if (count[1] == 0) return me == 0 && count[0] >= chief_waits_at;
      step_number const mine = me == 0 ? count[0] - begun : step_number(count[1]);
      step_number const others = me == 0 ? step_number(count[1]) : count[0] - begun;
      return mine > others + 1;
    };
    auto const net = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (is_ahead() && std::chrono::steady_clock::now() < net) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
};
/// Notes the global step before the first step of its own, and counts these.
struct observer {
  static constexpr bool stateless = true;
  std::shared_ptr<progress> of;
  int me;
  void before_run(auto& ctx) const {
    if (of->count[me] == 0) {
      of->first[me] = ctx.session().backend().global_step();
      if (me == 1) of->begun = of->count[0].load();
    }
    of->wait_for_other(me, 450);
    ++of->count[me];
  }
  void close() const { of->ended[me] = true; }
};

}  // namespace

TEST_CASE("the trainings of a cluster end at the global step, the chief saves by it, later workers begin gently") {
  scratch folder;
  constexpr step_number last = 700;
  auto const seen = std::make_shared<progress>();
  std::vector<float> w;
  std::string failed[2];
  std::thread worker([&] { failed[1] = error_of([&] {
    auto training = monitored_training_session(spread("_a", 1), {.role = role::worker, .task_index = 1, .max_wait = std::chrono::seconds(120), .log = false},
                                               stop_at_step::of<"global_step">{last}, observer{seen, 1});
    CHECK(training.checkpoints() == nullptr);
    (void)training->run_to_completion(target<"train">);
  }); });
  failed[0] = error_of([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the worker finds nothing at first
    auto training = monitored_training_session(spread("_a", 0), {.directory = folder.path, .save_checkpoint_steps = 100, .log = false},
                                               stop_at_step::of<"global_step">{last}, observer{seen, 0}, last_w{&w});
    (void)training->run_to_completion(target<"train">);
  });
  if (!failed[0].empty()) worker.detach();  // it would wait for ever
  REQUIRE(failed[0] == "");
  worker.join();
  CHECK(failed[1] == "");
  step_number const first[]{seen->first[0], seen->first[1]}, count[]{seen->count[0], seen->count[1]};
  MESSAGE(count[0] << " + " << count[1] << " steps, the worker from " << first[1]);
  CHECK(first[1] >= 346);  // 500 log 2
  CHECK(count[1] > 0);
  CHECK(count[0] + count[1] >= last);
  CHECK(count[0] + count[1] <= last + 1);
  std::vector<step_number> const saved = steps_in(folder.path);
  REQUIRE(saved.size() == 5);
  for (std::size_t i = 0; i + 1 < 5; ++i) {
    CAPTURE(saved[i]);
    // by the chief's own steps it would be far off: half of them are the worker's
    CHECK(saved[i] % 100 < 20);
    CHECK((i == 0 || saved[i] / 100 == saved[i - 1] / 100 + 1));
  }
  CHECK(saved.back() >= last);
  CHECK(w.at(0) >= float(last) / 2);
}

TEST_CASE("a worker of a cluster whose chief never comes says so in time") {
  auto const begun = std::chrono::steady_clock::now();
  std::string const words = error_of([] {
    (void)monitored_training_session(spread("_b", 1), {.role = role::worker, .max_wait = std::chrono::seconds(1), .log = false});
  });
  CHECK(contains(words, "nobody has initialised the variables within 1000 ms"));
  CHECK(contains(words, "step_b"));
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(60));
}

TEST_CASE("the chief of a cluster has to know the global step") {
  scratch folder;
  std::string const words =
      error_of([&] { (void)monitored_training_session(spread<false>("_c", 0), {.directory = folder.path, .log = false}); });
  CHECK(contains(words, "the chief of a cluster saves by the global step, which the graph does not declare"));
}

TEST_CASE("a chief that is restarted takes the variables back to its last checkpoint") {
  scratch folder;
  for (step_number const last : {10, 15}) {
    auto training = monitored_training_session(spread("_d", 0), {.directory = folder.path, .save_checkpoint_steps = 5, .log = false});
    CHECK(training->completed_steps() == (last == 10 ? 0 : 10));
    training->run_steps(5, target<"train">);
    if (last == 15) break;
    training->run_steps(7, target<"train">);
    training->abandon();
  }
}
