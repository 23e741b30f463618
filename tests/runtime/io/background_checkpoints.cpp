// SPDX-License-Identifier: BSL-1.0
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>

#include <tautline/adapt/chrono.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/io/background_checkpoints.hpp>

#include "../core/training.hpp"
#include "training.hpp"

// Checkpoints that a thread writes: by hand, and by a training, on disks that are slow, full, or do not answer.

namespace {

using namespace training;
using namespace std::chrono_literals;
using io_test::lines;
using io_test::scratch;
using io_test::small_training;
using tautline::at_end;
using tautline::background_checkpoints;
using tautline::checkpoint_saver;
using tautline::every_steps;
using tautline::finished_save;
using tautline::keep_all;
using tautline::keep_best;
using tautline::keep_latest;
using tautline::posix_files;
using tautline::status;
using tautline::with_metrics;
using tautline::writing_options;

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

/// What a test does with the disk of a `slow_files`.
class disk_switch {
 public:
  /// The disk does not answer until `go_on`.
  void hang() { set(true); }
  void go_on() { set(false); }
  void fail_with(int code) {
    std::scoped_lock const held(mutex_);
    code_ = code;
  }
  void take(std::chrono::milliseconds time) {
    std::scoped_lock const held(mutex_);
    time_ = time;
  }
  /// On the writing thread, before something is written.
  int pass() {
    std::unique_lock held(mutex_);
    ++waiting_;
    changed_.notify_all();
    std::this_thread::sleep_for(time_);
    changed_.wait(held, [&] { return !hangs_; });
    --waiting_;
    return code_;
  }
  void wait_until_it_hangs() {
    std::unique_lock held(mutex_);
    changed_.wait(held, [&] { return waiting_ > 0; });
  }

 private:
  void set(bool hangs) {
    std::scoped_lock const held(mutex_);
    hangs_ = hangs;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool hangs_ = false;
  int waiting_ = 0;
  int code_ = 0;
  std::chrono::milliseconds time_{0};
};
struct slow_files : posix_files {
  std::shared_ptr<disk_switch> by;
  explicit slow_files(std::shared_ptr<disk_switch> given) : by(std::move(given)) {}
  int create(char const* path, int& handle) {
    int const code = by->pass();
    return code != 0 ? code : posix_files::create(path, handle);
  }
};

/// A store over such a disk, in a folder of its own.
struct with_disk {
  scratch folder;
  lines said;
  std::shared_ptr<disk_switch> disk = std::make_shared<disk_switch>();
  background_checkpoints saved;
  explicit with_disk(writing_options how) : saved(folder / "saved", keep_all{}, said.options(), how, slow_files(disk)) {}
  ~with_disk() { disk->go_on(); }
};

std::string steps_in(background_checkpoints& saved) {
  std::string made;
  CHECK(saved.finish().ok());
  for (auto const& each : saved.store().entries()) made += (made.empty() ? "" : " ") + number(each.step);
  return made;
}

TEST_CASE("what was saved is found again, bit by bit, also by one that was never prepared") {
  scratch folder;
  small_training training;
  training.at_step(7);
  std::string const wanted = training.bits();
  {
    background_checkpoints saved(folder / "saved");
    CHECK(saved.save(training.state()).ok());
    training.at_step(8);  // the copy has been made
    finished_save done;
    CHECK(saved.finish().ok());
    REQUIRE(saved.next_finished(done));
    CHECK(done.result.ok());
    CHECK(done.step == 7);
    CHECK(contains(done.path, "saved/step-"));
    CHECK_FALSE(saved.next_finished(done));
  }
  background_checkpoints saved(folder / "saved");
  CHECK_FALSE(saved.is_empty());
  restored const back = saved.restore(training.state());
  CHECK(back.result.ok());
  CHECK(back.found);
  CHECK(back.step == 7);
  CHECK(training.bits() == wanted);
}

TEST_CASE("a training that is resumed is one that was not interrupted") {
  auto const w_after = [](std::initializer_list<std::int64_t> parts) {
    scratch folder;
    float w = 0;
    for (std::int64_t const part : parts) {
      background_checkpoints saved(folder / "saved", keep_latest{2});
      auto session = monitored(summing(), options{restore_from{saved}}, checkpoint_saver{saved, every_steps{10} | at_end});
      (void)session.run_steps(part - 1, target<"train">);
      w = session.run(target<"train">, fetch<"train">)[fetch<"train">];
    }
    return w;
  };
  CHECK(w_after({40}) == 780);
  CHECK(w_after({15, 1, 24}) == 780);
}

struct counts {
  int n = 0;
  auto state() { return fields{field<"n">(n)}; }
  void after_run(auto&) { ++n; }
};
struct counts_by_a_path {
  int n = 0;
  auto state() { return fields{field<"b/n">(n)}; }
  void after_run(auto&) { ++n; }
};
struct counts_twice {
  int n = 0;
  int m = 0;
  auto state() { return fields{field<"n">(n), field<"n">(m)}; }
  void after_run(auto&) { ++n, ++m; }
};

TEST_CASE("names that would keep a checkpoint from being written are told before the first step, not when all is done") {
  auto const why_not = [](auto... hooks) {
    scratch folder;
    background_checkpoints saved(folder / "saved");
    auto session = tautline::try_monitored(summing(), options{restore_from{saved}}, checkpoint_saver{saved, tautline::never | at_end},
                                           std::move(hooks)...);
    CHECK(session.completed_steps() == 0);
    return written(session.status());
  };
  CHECK(contains(why_not(counts_twice{}), "two tensors have the name \"hook/counts_twice/n\""));
  CHECK(contains(why_not(named<"a/b">(counts{}), named<"a">(counts_by_a_path{})), "\"hook/a/b/n\". Mend: give each hook"));
  CHECK(contains(why_not(named<"counts#2">(counts{}), counts{}, counts{}), "\"hook/counts#2/n\""));
  CHECK(contains(why_not(named<"\xff">(counts{})), "not UTF-8"));
  CHECK(why_not(counts{}, counts{}, named<"a">(counts{}), named<"b">(counts{})) == "(none)");
}

TEST_CASE("a slow disk: what finds no room is left out and said so, and what was saved stays") {
  with_disk with({.wait = 1ms});
  with.disk->hang();
  small_training training;
  CHECK(with.saved.prepare(training.state()).ok());
  for (step_number step = 1; step <= 4; ++step) {
    training.at_step(step);
    CHECK(with.saved.save(training.state()).ok());
  }
  CHECK(with.saved.left_out() == 2);
  REQUIRE(with.said.all.size() == 2);
  CHECK(with.said.all[0] == "the checkpoint of step 3 is left out: two are still being written");
  with.disk->go_on();
  CHECK(steps_in(with.saved) == "1 2");
  training.at_step(5);
  CHECK(with.saved.save(training.state()).ok());
  CHECK(steps_in(with.saved) == "1 2 5");
  CHECK(with.saved.left_out() == 2);
}

TEST_CASE("a slow disk in a training: the last one is not left out") {
  with_disk with({.wait = 1ms});
  {
    auto session = monitored(summing(), options{restore_from{with.saved}}, named<"saver">(checkpoint_saver{with.saved, every_steps{1} | at_end}));
    with.disk->hang();
    (void)session.run_steps(5, target<"train">);
    (void)session.run_without_hooks(target<"train">);  // step 6 is saved by the end
    CHECK(with.saved.left_out() == 3);
    with.disk->go_on();
    session.close();
    CHECK(session.hook<"saver">().saved() == 3);
  }
  CHECK(steps_in(with.saved) == "1 2 6");
}

TEST_CASE("a disk that is only slow makes the training wait, and loses nothing") {
  with_disk with({});
  with.disk->take(4ms);
  auto session = monitored(summing(), checkpoint_saver{with.saved, every_steps{1}});
  (void)session.run_steps(6, target<"train">);
  session.close();
  CHECK(with.saved.left_out() == 0);
  CHECK(steps_in(with.saved) == "1 2 3 4 5 6");
}

TEST_CASE("in real time nothing waits") {
  with_disk with({.wait = 1h, .real_time = true});
  with.disk->hang();
  small_training training;
  CHECK(with.saved.prepare(training.state()).ok());
  for (step_number step = 1; step <= 3; ++step) {
    training.at_step(step);
    CHECK(with.saved.save(training.state()).ok());
  }
  CHECK(with.saved.left_out() == 1);
  with.disk->go_on();
  CHECK(steps_in(with.saved) == "1 2");
}

TEST_CASE("a full disk ends the training at the next look, with the reason; what was saved stays the latest") {
  with_disk with({});
  {
    auto session = monitored(summing(), options{restore_from{with.saved}}, checkpoint_saver{with.saved, every_steps{2}});
    (void)session.run_steps(2, target<"train">);
    CHECK(with.saved.finish().ok());
    with.disk->fail_with(ENOSPC);
    (void)session.run_steps(2, target<"train">);
    (void)with.saved.finish();
    CHECK(session.status().kind == error_kind::none);
    auto const done = session.try_run_to_completion(target<"train">);
    CHECK(done.error == error_kind::error);
    CHECK(session.completed_steps() == 6);
    std::string const words = written(session.status());
    CHECK(contains(words, "No space left on device"));
    CHECK(contains(words, "step-"));
    CHECK(contains(words, "after_run"));
  }
  with.disk->fail_with(0);
  auto session = monitored(summing(), options{restore_from{with.saved}}, checkpoint_saver{with.saved, every_steps{2}});
  CHECK(session.completed_steps() == 2);
}

TEST_CASE("the words of an error last: the session still has them when later savings have failed, too") {
  with_disk with({});
  with.disk->fail_with(ENOSPC);
  auto session = monitored(summing(), checkpoint_saver{with.saved, every_steps{1}});
  (void)session.try_run_to_completion(target<"train">);
  session.close();
  std::string const words = written(session.status());
  small_training training;
  for (step_number step = 1000; step < 1004; ++step) {
    training.at_step(step);
    with.disk->fail_with(EACCES);
    (void)with.saved.save(training.state());
    (void)with.saved.finish();
    finished_save done;
    while (with.saved.next_finished(done)) CHECK_FALSE(done.result.ok());
  }
  CHECK(written(session.status()) == words);
  CHECK(contains(words, "No space left"));
}

struct fails_at {
  static constexpr bool stateless = true;
  step_number step;
  void before_run(auto& ctx) const {
    if (ctx.step() == step) ctx.fail(error_kind::internal, "of the training");
  }
};

TEST_CASE("an error of the last saving comes out of close, attached to an error of the training") {
  with_disk with({});
  with.disk->fail_with(ENOSPC);
  auto session = monitored(summing(), checkpoint_saver{with.saved, every_steps{1}}, fails_at{2});
  auto const done = session.try_run_to_completion(target<"train">);
  CHECK(done.error == error_kind::internal);
  REQUIRE(session.attached_errors().size() == 1);
  CHECK(contains(written(session.attached_errors()[0]), "No space left on device"));
}

TEST_CASE("a disk that does not answer costs the time to wait once, and is an error; nothing of it blocks the end") {
  auto const start = std::chrono::steady_clock::now();
  auto const disk = std::make_shared<disk_switch>();
  scratch folder;
  lines said;
  {
    background_checkpoints saved(folder / "saved", keep_all{}, said.options(), {.wait = 50ms, .finish = 4s}, slow_files(disk));
    auto session = monitored(summing(), checkpoint_saver{saved, every_steps{1} | at_end});
    disk->hang();
    (void)session.run_steps(2, target<"train">);
    (void)session.run_without_hooks(target<"train">);
    CHECK(session.try_close().kind == error_kind::unavailable);
    CHECK(contains(written(session.status()), "a checkpoint is still being written, and the time to wait for it is over"));
    CHECK(said.say("the checkpoint of step 3 is left out"));
    CHECK(saved.restore(small_training().state()).result.kind == error_kind::unavailable);
  }
  auto const took = std::chrono::steady_clock::now() - start;
  CHECK(took >= 4s);
  CHECK(took < 12s);  // not once for each of end, close, restore and the destructor
  disk->go_on();
  for (int i = 0; i < 60'000 && !std::filesystem::exists(folder / "saved/latest"); ++i) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(20ms);
}

TEST_CASE("a restore, and a look, wait for what is being written") {
  with_disk with({});
  small_training training;
  training.at_step(3);
  with.disk->take(30ms);
  CHECK(with.saved.save(training.state()).ok());
  CHECK(with.saved.load().manifest.step == 3);
  training.at_step(4);
  CHECK(with.saved.save(training.state()).ok());
  restored const back = with.saved.restore(training.state());
  CHECK(back.step == 4);
}

TEST_CASE("lines for people come on the training's thread, whoever has them to say") {
  scratch folder;
  std::vector<std::thread::id> from;
  std::vector<std::string> said;
  tautline::checkpoint_options options;
  options.report = [&](std::string_view line) {
    from.push_back(std::this_thread::get_id());
    said.emplace_back(line);
  };
  struct keeps_all_files : posix_files {
    int remove(char const*) { return EPERM; }
  };
  {
    background_checkpoints saved(folder / "saved", keep_latest{1}, options, {}, keeps_all_files{});
    small_training training;
    for (step_number step = 1; step <= 3; ++step) {
      training.at_step(step);
      CHECK(saved.save(training.state()).ok());
      CHECK(saved.finish().ok());
    }
  }
  CHECK(said.size() >= 2);
  for (std::thread::id const id : from) CHECK(id == std::this_thread::get_id());
}

TEST_CASE("what is not finite comes back as such, and is not the latest") {
  scratch folder;
  background_checkpoints saved(folder / "saved");
  small_training training;
  training.at_step(1);
  CHECK(saved.save(training.state()).ok());
  training.at_step(2);
  training.w[1][2] = NAN;
  CHECK(saved.save(training.state()).ok());
  CHECK(saved.finish().ok());
  finished_save done;
  REQUIRE(saved.next_finished(done));
  CHECK(done.result.ok());
  REQUIRE(saved.next_finished(done));
  CHECK(done.result.kind == error_kind::nan);
  CHECK(saved.load().manifest.step == 1);
}

/// Publishes what a test says for each step.
struct validation {
  static constexpr bool stateless = true;
  using provides = tautline::provides<"accuracy", double>;
  std::vector<double> of_step;
  void after_run(auto& ctx) { ctx.template publish<"accuracy">(of_step.at(static_cast<std::size_t>(ctx.step() - 1))); }
};

TEST_CASE("the best by a metric stays; one that is not a number is never the best") {
  scratch folder;
  double const nan = std::numeric_limits<double>::quiet_NaN();
  background_checkpoints saved(folder / "saved", keep_latest{1} | keep_best<"accuracy">{1});
  auto session = monitored(summing(), options{restore_from{saved}},
                           checkpoint_saver{saved, every_steps{1}, with_metrics<"accuracy">},
                           validation{{nan, 0.5, 0.9, nan, 0.7}});
  (void)session.run_steps(5, target<"train">);
  session.close();
  CHECK(steps_in(saved) == "3 5");
  CHECK(saved.store().entries()[0].metadata.number("accuracy") == 0.9);
}

TEST_CASE("a recovery goes back to what was being written when the session broke") {
  with_disk with({});
  with.disk->take(10ms);
  world outside;
  outside.in_run = [](long run) { return run == 6 ? status{error_kind::aborted, "broken"} : status{}; };
  auto session = monitored(backend(outside), options{restore_from{with.saved}}, checkpoint_saver{with.saved, every_steps{5}});
  (void)session.run_steps(6);
  CHECK(outside.sessions == 2);
  CHECK(session.completed_steps() >= 6);
  session.close();
  CHECK(steps_in(with.saved) == "5");
}

}  // namespace
