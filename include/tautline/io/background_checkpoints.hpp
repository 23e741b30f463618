// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tautline/io/checkpoint_sink.hpp>
#include <tautline/io/checkpoint_store.hpp>

TAUTLINE_BEGIN

/// How long a training may wait for its checkpoints.
struct writing_options {
  std::chrono::milliseconds wait{5000};     ///< for room, when the one before the last is still being written
  std::chrono::milliseconds finish{60'000};  ///< at the end of the training, and before a restore, for all of them
  /// Nothing that the step's thread does is a system call: the writing thread looks for work a thousand times a second.
  bool real_time = false;
};

/// A `checkpoint_store` whose writing is done by a thread of its own: the training goes on as soon as its values are copied.
///
///     background_checkpoints saved{"run/checkpoints", keep_latest{3}};
///     auto session = monitored(graph, options{restore_from{saved}}, checkpoint_saver{saved, every_steps{1000} | at_end}, …);
///
/// It models `checkpoint_sink` and `restorer`. Two copies of the training's values are held; while both are being written a
/// saving waits `wait`, then it is left out, counted and reported: what was saved before stays the latest. The last one,
/// at the end, waits `finish`. A restore waits for what is being written. Once a wait of `finish` was in vain nothing waits
/// again before the disk has answered: a disk that hangs costs a training that time once.
///
/// **Errors** of the writing come out one by one in `next_finished`: a `checkpoint_saver` looks when it saves and at the end.
/// **Cost** of a saving, on the step's thread: one memcpy of the values.
/// **Thread-safety** the training's thread only. `report` is called there, too, when the training next looks.
class background_checkpoints {
 public:
  static constexpr bool refuses_not_finite = true;

  template <keep_policy Policy = keep_latest, file_layer Files = posix_files>
  explicit background_checkpoints(std::string folder, Policy policy = {}, checkpoint_options options = {},
                                  writing_options how = {}, Files files = {})
      : shared_(std::make_shared<shared>(std::move(folder), policy, std::move(options), std::move(files))), how_(how) {}
  background_checkpoints(background_checkpoints const&) = delete;
  background_checkpoints& operator=(background_checkpoints const&) = delete;
  /// Waits `finish` for what is being written. A writing that takes longer goes on until it is done or the process ends.
  ~background_checkpoints() {
    if (!worker_.joinable()) return;
    bool const done = wait_until_idle(how_.finish);
    shared_->ending.store(true, std::memory_order_release);
    wake();
    if (done) {
      worker_.join();
    } else {
      worker_.detach();
    }
    shared_->lines.tell();
  }

  // --- as a checkpoint_sink ---------------------------------------------------------------------------------------

  status save(training_state const& state) {
    if (status const read = state.read(); !read.ok()) return read;
    slot* const free = find_free();
    if (free == nullptr) {
      ++left_out_;
      if (how_.real_time) return {};
      shared_->lines.add("the checkpoint of step " + std::to_string(state.step()) + " is left out: two are still being written");
      shared_->lines.tell();
      return {};
    }
    if (!metadata_.items().empty()) free->copy.metadata() = metadata_;
    if (!free->copy.take(state)) return {error_kind::error, "there is no memory for a copy of the training's values"};
    free->now.store(slot::filled, std::memory_order_release);
    start();
    wake();
    return {};
  }
  /// Whether the folder has no checkpoint yet. Waits as `finish` does.
  [[nodiscard]] bool is_empty() {
    (void)wait_until_idle(how_.finish);
    return shared_->store.entries().empty();
  }
  /// Takes the memory for the copies, and starts the thread. **Errors** of opening the folder, and of names that keep
  /// the training from being saved.
  status prepare(training_state const& state) {
    if (!shared_->store.status().ok()) return {shared_->store.status().kind, shared_->store.status().message.c_str()};
    (void)wait_until_idle(how_.finish);
    for (slot& each : shared_->slots) {
      if (!each.copy.reserve(state)) return {error_kind::error, "there is no memory for a copy of the training's values"};
    }
    if (io_result seen = checkpoint_store::check_names(shared_->slots[0].copy); !seen.ok()) {
      return {seen.kind, told_errors_.emplace_back(std::move(seen.message)).c_str()};
    }
    start();
    return {};
  }
  void set_metric(char const* name, double value) { metadata_.set(name, value); }
  /// Further words and numbers for the manifests.
  [[nodiscard]] checkpoint_metadata& metadata() { return metadata_; }

  bool next_finished(finished_save& next) {
    if (!how_.real_time) shared_->lines.tell();
    saved_checkpoint const* first = nullptr;
    if (!unseen_.empty()) {
      unseen_told_ = std::move(unseen_.front());
      unseen_.pop_front();
      first = &unseen_told_;
    } else if (slot* const done = oldest_done(); done != nullptr) {
      done->now.store(slot::told, std::memory_order_relaxed);  // its path stays until the slot is taken again
      first = &done->result;
    }
    if (first == nullptr) return false;
    next.step = first->step;
    next.result = {};
    next.path = first->manifest_file.c_str();
    if (!first->ok()) {
      // errors outlive this call: the session keeps five at most
      if (told_errors_.size() == 8) told_errors_.pop_front();
      next.result = {first->kind, told_errors_.emplace_back(first->message).c_str()};
      next.path = "";
    }
    return true;
  }
  status finish() {
    if (wait_until_idle(how_.finish)) return {};
    return {error_kind::unavailable, "a checkpoint is still being written, and the time to wait for it is over"};
  }

  // --- as a restorer ----------------------------------------------------------------------------------------------

  restored restore(training_state const& state) {
    if (status const waited = finish(); !waited.ok()) return {waited};
    restored const made = shared_->store.restore(state);
    shared_->lines.tell();
    return made;
  }
  /// The latest checkpoint, for looking at. Waits for what is being written.
  [[nodiscard]] loaded_checkpoint load() {
    loaded_checkpoint made;
    if (status const waited = finish(); !waited.ok()) {
      made.result = {waited.kind, waited.message};
      return made;
    }
    made = shared_->store.load();
    shared_->lines.tell();
    return made;
  }

  /// The store, for looking at: not while something is being written. @see finish
  [[nodiscard]] checkpoint_store& store() { return shared_->store; }
  /// Savings that were left out since both copies were in use.
  [[nodiscard]] std::int64_t left_out() const { return left_out_; }

 private:
  struct slot {
    enum state : std::uint8_t { free, filled, done, told };
    std::atomic<state> now{free};
    checkpoint_snapshot copy;
    saved_checkpoint result;
  };
  /// What either thread has to say, until the training's thread says it: a sink for lines need not know of threads.
  class line_box {
   public:
    explicit line_box(log_sink to) : to_(std::move(to)) {}
    void add(std::string_view line) {
      std::scoped_lock const held(mutex_);
      lines_.emplace_back(line);
      any_.store(true, std::memory_order_release);
    }
    void tell() {
      if (!any_.load(std::memory_order_acquire)) return;
      std::vector<std::string> all;
      {
        std::scoped_lock const held(mutex_);
        all.swap(lines_);
        any_.store(false, std::memory_order_relaxed);
      }
      for (std::string const& line : all) to_(line);
    }

   private:
    log_sink to_;
    std::mutex mutex_;
    std::vector<std::string> lines_;
    std::atomic<bool> any_{false};
  };
  struct shared {
    template <class Policy, class Files>
    shared(std::string folder, Policy policy, checkpoint_options options, Files files)
        : lines(options.report), store(std::move(folder), policy, redirected(std::move(options)), std::move(files)) {}
    checkpoint_options redirected(checkpoint_options options) {
      options.report = [this](std::string_view line) { lines.add(line); };
      return options;
    }

    line_box lines;
    checkpoint_store store;
    std::array<slot, 2> slots;
    std::atomic<std::uint32_t> work{0};  // raised with each filled slot
    std::atomic<bool> ending{false};
  };

  void start() {
    if (!worker_.joinable()) worker_ = std::thread(&write_all, shared_, how_.real_time);
  }
  void wake() {
    shared_->work.fetch_add(1, std::memory_order_release);
    if (!how_.real_time) shared_->work.notify_one();
  }

  static saved_checkpoint written(checkpoint_store& store, checkpoint_snapshot const& copy) {
    saved_checkpoint made;
    TAUTLINE_TRY { made = store.save(copy); }
    TAUTLINE_CATCH_ALL { made = {error_kind::error, "a checkpoint could not be written: there is no memory", copy.step(), {}}; }
    return made;
  }
  /// The thread: writes what is filled, the older one first.
  static void write_all(std::shared_ptr<shared> const with, bool polls) {
    std::uint32_t seen = 0;
    for (;;) {
      slot* next = nullptr;
      for (slot& each : with->slots) {
        if (each.now.load(std::memory_order_acquire) != slot::filled) continue;
        if (next == nullptr || each.copy.step() < next->copy.step()) next = &each;
      }
      if (next != nullptr) {
        next->result = written(with->store, next->copy);
        next->now.store(slot::done, std::memory_order_release);
      } else if (with->ending.load(std::memory_order_acquire)) {
        return;
      } else if (polls) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      } else {
        with->work.wait(seen, std::memory_order_acquire);
        seen = with->work.load(std::memory_order_acquire);
      }
    }
  }

  [[nodiscard]] slot* oldest_done() {
    slot* oldest = nullptr;
    for (slot& each : shared_->slots) {
      if (each.now.load(std::memory_order_acquire) != slot::done) continue;
      if (oldest == nullptr || each.result.step < oldest->result.step) oldest = &each;
    }
    return oldest;
  }
  [[nodiscard]] slot* look_for_free() {
    for (slot& each : shared_->slots) {
      slot::state const now = each.now.load(std::memory_order_relaxed);
      if (now == slot::free || now == slot::told) return &each;
    }
    // nobody has looked at what became of the ones before
    slot* const done = oldest_done();
    if (done != nullptr) unseen_.push_back(std::move(done->result));
    return done;
  }
  [[nodiscard]] slot* find_free() {
    slot* found = look_for_free();
    if (how_.real_time || in_vain_) return found;
    auto const deadline = std::chrono::steady_clock::now() + how_.wait;
    while (found == nullptr && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      found = look_for_free();
    }
    return found;
  }
  [[nodiscard]] bool wait_until_idle(std::chrono::milliseconds most) {
    auto const is_idle = [&] {
      for (slot const& each : shared_->slots) {
        if (each.now.load(std::memory_order_acquire) == slot::filled) return false;
      }
      return true;
    };
    auto const deadline = std::chrono::steady_clock::now() + most;
    while (!is_idle()) {
      if (in_vain_ || std::chrono::steady_clock::now() >= deadline) {
        in_vain_ = true;
        return false;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    in_vain_ = false;
    return true;
  }

  std::shared_ptr<shared> shared_;
  std::thread worker_;
  std::deque<saved_checkpoint> unseen_;  // done, and nobody has looked before the slot was needed again
  saved_checkpoint unseen_told_;
  std::deque<std::string> told_errors_;
  checkpoint_metadata metadata_;
  writing_options how_;
  std::int64_t left_out_ = 0;
  bool in_vain_ = false;  // the last wait for the disk was
};
static_assert(restorer<background_checkpoints> && checkpoint_sink<background_checkpoints>);

/// The same for sessions in real-time mode: once prepared, a saving that finds no room is left out and counted, without a
/// word; nothing on the step's thread allocates, locks or calls the system. Without metrics, which take memory.
///
///     real_time_checkpoints saved{"run/checkpoints", keep_latest{3}};
///     auto session = monitored(graph, options{real_time{}}, checkpoint_saver{saved, every_steps{10'000}}, …);
class real_time_checkpoints : public background_checkpoints {
 public:
  static constexpr bool real_time = true;

  template <keep_policy Policy = keep_latest, file_layer Files = posix_files>
  explicit real_time_checkpoints(std::string folder, Policy policy = {}, checkpoint_options options = {},
                                 writing_options how = {}, Files files = {})
      : background_checkpoints(std::move(folder), policy, std::move(options), polling(how), std::move(files)) {}

 private:
  static writing_options polling(writing_options how) {
    how.real_time = true;
    return how;
  }
};

TAUTLINE_END
