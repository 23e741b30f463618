// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <csignal>
#include <sys/wait.h>

#include "disk.hpp"
#include "training.hpp"

using namespace tautline;
using namespace io_test;

namespace {

struct attempt {
  step_number step;
  std::string bits;
  bool committed;
};

checkpoint_options silent() {
  checkpoint_options made;
  made.report = false;
  return made;
}

/// Saves steps 3, 4, 4 with other values, 5 into a folder that has 1 and 2. @return whether all went well
bool play(disk& where, std::vector<attempt>& attempts) {
  checkpoint_store store("run", keep_latest{2}, silent(), disk_files(where));
  small_training training;
  bool good = store.status().ok() && store.restore(training.state()).result.ok();
  for (step_number const step : {3, 4, 4, 5}) {
    training.at_step(step);
    attempts.push_back({step, training.bits(), false});
    saved_checkpoint const done = store.save(training.state());
    CHECK(done.ok() == done.message.empty());
    attempts.back().committed = done.ok();
    good = good && done.ok();
  }
  return good;
}

/// What a new process finds: the last committed checkpoint, or one that was on its way.
std::string found_after(disk& where, std::vector<attempt> const& attempts) {
  std::size_t committed = 0;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    if (attempts[i].committed) committed = i;
  }
  lines said;
  checkpoint_store store("run", keep_latest{2}, said.options(), disk_files(where));
  small_training training;
  restored const back = store.restore(training.state());
  if (!said.all.empty()) return said.all[0];  // what was committed is whole, and is what `latest` names
  if (!back.result.ok()) return back.result.message;
  if (!back.found) return "nothing";
  for (std::size_t i = committed; i < attempts.size(); ++i) {
    if (attempts[i].step == back.step && attempts[i].bits == training.bits()) {
      for (auto const& [name, file] : where.now) {
        if (name.starts_with(".tautline")) return name + " is left";
      }
      return "";
    }
  }
  return "step " + std::to_string(back.step) + ", and step " + std::to_string(attempts[committed].step) + " was committed";
}

disk prepared(std::vector<attempt>& attempts) {
  disk made;
  checkpoint_store store("run", keep_latest{2}, silent(), disk_files(made));
  small_training training;
  for (step_number const step : {1, 2}) {
    training.at_step(step);
    attempts.push_back({step, training.bits(), store.save(training.state()).ok()});
    REQUIRE(attempts.back().committed);
  }
  return made;
}

/// The disk with files of its own.
disk copy_of(disk const& from) {
  disk made;
  for (auto const& [name, file] : from.now) {
    made.now[name] = std::make_shared<disk::inode>(*file);
    made.now[name]->durable = file->content;
  }
  made.sync_folder();
  return made;
}

}  // namespace

TEST_CASE("whichever operation fails, tears or is the last one: the last committed checkpoint is found") {
  std::vector<attempt> before;
  disk const start = prepared(before);
  int points = 0;
  for (fault const mode : {fault::fail, fault::fail_after, fault::torn, fault::crash_before, fault::crash_torn,
                           fault::crash_after}) {
    for (int at = 0;; ++at) {
      disk where = copy_of(start);
      where.mode = mode, where.fault_at = at;
      std::vector<attempt> attempts = before;
      play(where, attempts);
      if (where.operations <= at && !where.dead()) break;
      ++points;
      bool const last_one_works = mode < fault::crash_before && attempts.back().committed;
      where.boot(0);
      CAPTURE(static_cast<int>(mode));
      CAPTURE(at);
      CHECK(found_after(where, attempts) == "");
      // one fault, and the store goes on: unless it could not be opened, or it is the last saving that has it
      if (mode < fault::crash_before && at < 100 && at > 12) CHECK(last_one_works);
    }
  }
  MESSAGE(points, " points");
  CHECK(points > 500);
}

TEST_CASE("whenever the power goes, the last committed checkpoint is found, whatever of the rest got to the disk") {
  std::vector<attempt> before;
  disk const start = prepared(before);
  int points = 0;
  for (unsigned seed = 0; seed < 3; ++seed) {
    for (int at = 0;; ++at) {
      disk where = copy_of(start);
      where.mode = fault::power_cut, where.fault_at = at;
      std::vector<attempt> attempts = before;
      play(where, attempts);
      if (!where.dead()) break;
      ++points;
      where.boot(seed);
      CAPTURE(seed);
      CAPTURE(at);
      CHECK(found_after(where, attempts) == "");
    }
  }
  CHECK(points > 350);
}

TEST_CASE("a full disk is said so, and leaves nothing behind") {
  disk where;
  checkpoint_store store("run", keep_latest{}, silent(), disk_files(where));
  small_training training;
  training.at_step(1);
  REQUIRE(store.save(training.state()).ok());
  auto const before = where.now.size();
  where.mode = fault::torn, where.code = ENOSPC;
  where.fault_at = where.operations + 4;  // within the values
  training.at_step(2);
  saved_checkpoint const done = store.save(training.state());
  CHECK(done.kind == error_kind::error);
  CHECK(done.message == "run/step-000000000002.safetensors cannot be written: No space left on device");
  CHECK(where.now.size() == before);
  CHECK(store.save(training.state()).ok());
}

TEST_CASE("a folder that cannot be written is refused with the reason") {
  disk where;
  where.mode = fault::fail, where.code = EROFS, where.fault_at = 1;  // the lock
  checkpoint_store store("run", keep_latest{}, silent(), disk_files(where));
  CHECK(store.status().message ==
        "the folder of checkpoints run cannot be locked (a store that only reads is opened with read_only): "
        "Read-only file system");
  small_training training;
  CHECK(store.save(training.state()).message == store.status().message);
  CHECK(store.restore(training.state()).result.message == store.status().message);
}

TEST_CASE("a process that is killed at any moment leaves a checkpoint that loads") {
  scratch folder;
  step_number last = 0;
  for (int round = 0; round < 12; ++round) {
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    pid_t const child = ::fork();
    if (child == 0) {
      checkpoint_store store(folder.path, keep_latest{2}, silent());
      small_training training;
      restored const back = store.restore(training.state());
      if (!back.result.ok()) ::_exit(1);
      for (step_number step = back.step + 1;; ++step) {
        training.at_step(step);
        if (!store.save(training.state()).ok() || ::write(pipe_ends[1], &step, sizeof step) < 0) ::_exit(2);
      }
    }
    step_number committed = 0;
    for (int i = 0; i <= round % 3; ++i) REQUIRE(::read(pipe_ends[0], &committed, sizeof committed) == sizeof committed);
    ::usleep(static_cast<useconds_t>(round * 331));
    ::kill(child, SIGKILL);
    int how = 0;
    ::waitpid(child, &how, 0);
    ::close(pipe_ends[1]);
    while (::read(pipe_ends[0], &committed, sizeof committed) > 0) continue;
    ::close(pipe_ends[0]);
    REQUIRE(WIFSIGNALED(how));

    checkpoint_store store(folder.path, keep_latest{2}, silent());
    REQUIRE(store.status().ok());  // the lock went with the process
    small_training training;
    restored const back = store.restore(training.state());
    REQUIRE(back.found);
    CHECK(back.step >= committed);
    CHECK(back.step > last);
    CHECK(training.position == back.step * 10);
    last = back.step;
    for (std::string const& name : names_in(folder.path)) CHECK_FALSE(name.starts_with(".tautline"));
  }
}
