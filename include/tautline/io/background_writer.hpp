// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

#include <readerwriterqueue/readerwriterqueue.h>

#include <tautline/core/error.hpp>
#include <tautline/io/detail/signals_held.hpp>

TAUTLINE_BEGIN

/// How the worker of a `background_writer` learns that there is something to do.
enum class waking : std::uint8_t {
  polling,    ///< it looks every so often: the producer makes no system call, ever
  signalled,  ///< the producer wakes it if it sleeps: sooner, for a system call now and then
};

struct background_options {
  std::size_t capacity = 1024;  ///< records that have room, at least; rounded up
  waking wake = waking::polling;
  std::chrono::microseconds poll{1000};    ///< how long a polling worker sleeps when there is nothing to do
  std::chrono::nanoseconds patience{0};    ///< how long `push` waits for room; 0: it never waits
  std::chrono::milliseconds linger{2000};  ///< how long the destructor waits for what is still to be written
};

/// What became of a record that was pushed.
enum class pushed : std::uint8_t {
  taken,
  full,    ///< there was no room: dropped, and counted
  failed,  ///< the worker has failed, see `failure()`: dropped, and counted
  closed,  ///< after `join`: dropped, and counted
};

/// What `join` says.
struct background_report {
  bool finished = false;      ///< the worker has ended; false if it was given up at the deadline
  std::uint64_t written = 0;  ///< records that `consume` has taken without an error
  std::uint64_t dropped = 0;  ///< records that `push` refused
  std::uint64_t lost = 0;     ///< records that were taken, but not written
  /// Everything that was pushed has been written.
  [[nodiscard]] explicit operator bool() const { return finished && dropped == 0 && lost == 0; }
};

/// Hands records of a fixed size to a thread of its own, through a queue of a fixed length.
///
///     background_writer<sample, to_file> out(to_file{"samples.bin"}, {.capacity = 4096});
///     out.push(sample{1, 2.5F});                       // a copy of a few bytes; full: dropped and counted
///     auto const how = out.join(std::chrono::seconds(2));
///
/// @tparam Record trivially copyable
/// @tparam Consume `consume(record)` on the worker's thread, one at a time and in order; returns nothing, or a `status`
///
/// **Owner** one object, movable, with one producer at a time. The worker and this object share queue and `consume`, so
/// that a worker that was given up while it was stuck in `consume` has them until it comes back; it calls `consume` no
/// more. What `consume` refers to must live as long.
/// **Errors** what `consume` throws, or returns as a `status` that is not ok, is kept: the worker writes nothing more,
/// `push` says `failed`, `failure()` says why. The constructor throws `std::system_error` where there can be no thread.
/// **Cost** of `push` without patience: a copy of the record and a few atomic operations; no allocation, lock or system
/// call with `waking::polling`. The queue is allocated once, in the constructor.
template <class Record, class Consume>
class background_writer {
  static_assert(std::is_trivially_copyable_v<Record>,
                "tautline: records go to another thread as bytes, and this type is not trivially copyable. Mend: put numbers and "
                "arrays of fixed size into the record, no strings, vectors or pointers to what may go");

  using clock = std::chrono::steady_clock;

 public:
  explicit background_writer(Consume consume, background_options how = {})
      : shared_(std::make_shared<shared>(std::move(consume), how)) {
    detail::signals_held const held;  // they are for the program's own threads
    worker_ = std::thread([at = shared_] { at->work(); });
  }
  background_writer(background_writer&&) noexcept = default;
  background_writer& operator=(background_writer&& other) noexcept {
    if (this != &other) {
      if (shared_) (void)join(shared_->how.linger);
      shared_ = std::move(other.shared_);
      worker_ = std::move(other.worker_);
    }
    return *this;
  }
  /// As `join` with the option `linger`: it never hangs.
  ~background_writer() {
    if (shared_) (void)join(shared_->how.linger);
  }

  /// From one thread at a time.
  pushed push(Record const& record) noexcept {
    shared& at = *shared_;
    if (at.turn.load(std::memory_order_relaxed) != turn::go) [[unlikely]] return refuse(pushed::closed);
    if (at.failed.load(std::memory_order_relaxed)) [[unlikely]] return refuse(pushed::failed);
    if (!at.queue.try_enqueue(record)) [[unlikely]] {
      if (at.how.patience.count() == 0 || !enqueue_in_time(record)) return refuse(pushed::full);
    }
    at.taken.store(at.taken.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    if (at.how.wake == waking::signalled && at.asleep.exchange(false)) at.nudge();
    return pushed::taken;
  }

  /// Waits until all that was pushed has been written. Afterwards, until the next `push`, the worker does not touch
  /// `consume`, and what it did to it is seen by the caller. @return false at the deadline, or if the worker has failed
  bool settle(std::chrono::nanoseconds patience) {
    shared& at = *shared_;
    if (at.idle()) return true;
    at.nudge();
    wait_for(patience, [&] { return at.idle() || at.done.load(std::memory_order_acquire); });
    return at.idle();
  }

  /// Whether the worker does not touch `consume` until the next `push`: all is written, or it has ended.
  [[nodiscard]] bool at_rest() const { return shared_->idle() || shared_->done.load(std::memory_order_acquire); }

  /// Lets the worker write what is left and ends it. If that takes longer than `patience`, the worker is given up: it
  /// ends as soon as it comes back from `consume`. A second call does nothing more.
  background_report join(std::chrono::nanoseconds patience) {
    shared& at = *shared_;
    if (worker_.joinable()) {
      at.turn.store(turn::drain);
      at.nudge();
      finished_ = wait_for(patience, [&] { return at.done.load(std::memory_order_acquire); });
      if (!finished_) {
        at.turn.store(turn::leave);
        at.nudge();
        // it may have been a matter of this moment only
        finished_ = wait_for(std::chrono::milliseconds(20), [&] { return at.done.load(std::memory_order_acquire); });
      }
      if (finished_) {
        worker_.join();
      } else {
        worker_.detach();
      }
    }
    background_report report;
    report.finished = finished_;
    report.written = at.written.load(std::memory_order_acquire);
    report.dropped = at.dropped.load(std::memory_order_relaxed);
    report.lost = at.taken.load(std::memory_order_relaxed) - report.written;
    return report;
  }

  /// Whether the worker has met an error. **Cost** one atomic load.
  [[nodiscard]] bool failed() const noexcept { return shared_->failed.load(std::memory_order_acquire); }
  /// The worker's first error; its message and cause live as long as this object and the worker.
  [[nodiscard]] error failure() const { return failed() ? shared_->why : error{}; }
  /// Records that were not taken.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return shared_->dropped.load(std::memory_order_relaxed); }
  /// Records that have been written.
  [[nodiscard]] std::uint64_t written() const noexcept { return shared_->written.load(std::memory_order_acquire); }
  /// What the worker calls: to be touched before the first `push`, after `settle`, or after a `join` that has finished.
  [[nodiscard]] Consume& consumer() noexcept { return shared_->consume; }

 private:
  enum class turn : std::uint8_t { go, drain, leave };

  struct shared {
    shared(Consume&& given, background_options const& options)
        : queue(options.capacity < 1 ? 1 : options.capacity), consume(std::move(given)), how(options) {}

    void work() {
      while (turn.load(std::memory_order_relaxed) != turn::leave) {
        if (Record const* const next = queue.peek(); next != nullptr) {
          if (!take(*next)) break;
          if (turn.load(std::memory_order_relaxed) == turn::leave) break;
          queue.pop();
          written.store(written.load(std::memory_order_relaxed) + 1, std::memory_order_release);
        } else if (turn.load() == turn::drain) {
          if (queue.peek() == nullptr) break;  // what was pushed before `drain` is seen now
        } else {
          sleep();
        }
      }
      done.store(true, std::memory_order_release);
    }
    /// @return false after an error
    bool take(Record const& record) {
      TAUTLINE_TRY {
        if constexpr (std::is_same_v<decltype(consume(record)), status>) {
          status const done_with = consume(record);
          if (!done_with.ok()) return fail(done_with.kind, done_with.message);
        } else {
          consume(record);
        }
        return true;
      }
      TAUTLINE_CATCH_ALL { return fail_by_exception(); }
    }
    bool fail(error_kind kind, char const* words) {
      detail::writer(message, sizeof message).put(words);
      why.kind = kind;
      why.message = text::of_lasting(message);
      failed.store(true, std::memory_order_release);
      return false;
    }
    bool fail_by_exception() {
#if TAUTLINE_EXCEPTIONS
      why.cause = std::current_exception();
      try {
        throw;
      } catch (tautline::exception const& known) {
        return fail(known.kind(), known.what());
      } catch (std::exception const& foreign) {
        return fail(error_kind::error, foreign.what());
      } catch (...) {
        return fail(error_kind::error, "an exception of a foreign type");
      }
#endif
      return false;
    }
    void sleep() {
      using namespace std::chrono_literals;
      std::unique_lock lock(mutex);
      asleep.store(true);
      if (queue.peek() == nullptr && turn.load() == turn::go) {
        // a wake-up that is missed costs this time, no more
        wake.wait_for(lock, how.wake == waking::polling ? std::chrono::nanoseconds(how.poll) : 20ms);
      }
      asleep.store(false);
    }
    void nudge() {
      { std::lock_guard const lock(mutex); }
      wake.notify_one();
    }
    [[nodiscard]] bool idle() const {
      return written.load(std::memory_order_acquire) == taken.load(std::memory_order_relaxed);
    }

    moodycamel::ReaderWriterQueue<Record> queue;
    Consume consume;
    background_options const how;
    std::mutex mutex;
    std::condition_variable wake;
    error why;
    char message[160] = "";
    std::atomic<enum turn> turn{turn::go};
    std::atomic<bool> failed{false};
    std::atomic<bool> done{false};
    alignas(64) std::atomic<std::uint64_t> taken{0};  // the producer's
    std::atomic<std::uint64_t> dropped{0};
    alignas(64) std::atomic<std::uint64_t> written{0};  // the worker's
    std::atomic<bool> asleep{false};
  };

  pushed refuse(pushed why) noexcept {
    shared_->dropped.store(shared_->dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return why;
  }
  TAUTLINE_COLD bool enqueue_in_time(Record const& record) noexcept {
    shared& at = *shared_;
    bool entered = false;
    at.nudge();
    wait_for(at.how.patience, [&] { return (entered = at.queue.try_enqueue(record)) || at.failed.load(std::memory_order_relaxed); });
    return entered;
  }
  /// @return what the condition was at last
  template <class Condition>
  static bool wait_for(std::chrono::nanoseconds patience, Condition condition) {
    using namespace std::chrono_literals;
    auto const start = clock::now();
    while (!condition()) {
      if (clock::now() - start >= patience) return condition();
      std::this_thread::sleep_for(50us);
    }
    return true;
  }

  std::shared_ptr<shared> shared_;
  std::thread worker_;
  bool finished_ = false;
};
template <class Record, class Consume>
background_writer<Record, Consume> write_in_background(Consume consume, background_options how = {}) {
  return background_writer<Record, Consume>(std::move(consume), how);
}

TAUTLINE_END
