// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <tautline/core/hook.hpp>
#include <tautline/core/options.hpp>
#include <tautline/core/run_context.hpp>

TAUTLINE_BEGIN

/// What works beside a training, and ends with it: threads that fill an input, evaluate, watch. Any of them may end all,
/// and none outlives the training unseen.
///
///     coordinator threads;
///     threads.spawn("input", [&](std::stop_token stop) { while (!stop.stop_requested()) queue.push(read()); });
///     threads.spawn_every("report", std::chrono::seconds(5), [&] { report(); });
///     auto session = monitored(graph, options{with_coordinator{threads}}, coordinated{threads}, …);
///
/// The hook `coordinated` ties it to a session: a thread that fails ends the training, with its exception; the end of the
/// training asks all threads to stop and waits for them. Hooks get it as the second parameter of
/// `after_create_session(session, coordinator&)`.
///
/// The first exception that a thread ends with, or that is reported, is kept, and comes out of `join`.
/// **Thread-safety** all members but the constructor, the destructor and `clear_stop` may be called from any thread.
/// **Source** tf.train.Coordinator and LooperThread.
class coordinator {
 public:
  /// @param grace how long `join` waits for threads that were asked to stop
  explicit coordinator(std::chrono::milliseconds grace = std::chrono::seconds(120)) : grace_(grace) {}
  coordinator(coordinator const&) = delete;
  coordinator& operator=(coordinator const&) = delete;
  /// Asks all to stop and waits `grace`; a thread that is still there is left alone.
  ~coordinator() {
    request_stop();
    (void)wait_for_threads();
  }

  /// Asks everything to stop. **Thread-safety** from anywhere but a signal handler.
  void request_stop() { shared_->request_stop(); }
#if TAUTLINE_EXCEPTIONS
  /// The same, since something failed: the first failure is the one that `join` throws.
  void request_stop(std::exception_ptr failed) { shared_->request_stop(std::move(failed)); }
#endif
  [[nodiscard]] bool should_stop() const { return shared_->stop.stop_requested(); }
  [[nodiscard]] std::stop_token token() const { return shared_->stop.get_token(); }
  /// @return true if a stop was asked for within that time
  bool wait_for_stop(std::chrono::nanoseconds most) { return shared_->wait_for_stop(most); }

  /// Starts a thread that runs `work()` or `work(stop_token)`. An exception that leaves it asks all to stop.
  /// @param name for messages
  template <class Work>
  void spawn(std::string name, Work work) {
    auto done = std::make_shared<finished>();
    std::scoped_lock const held(shared_->mutex);
    threads_.push_back({std::move(name), done, std::thread([with = shared_, done, work = std::move(work)]() mutable {
                          TAUTLINE_TRY {
                            if constexpr (std::is_invocable_v<Work&, std::stop_token>) {
                              work(with->stop.get_token());
                            } else {
                              work();
                            }
                          }
                          TAUTLINE_CATCH_ALL {
#if TAUTLINE_EXCEPTIONS
                            with->request_stop(std::current_exception());
#endif
                          }
                          done->set();
                        })});
  }
  /// Starts a thread that calls `work()` at once and then every `period`, until a stop.
  template <class Work>
  void spawn_every(std::string name, std::chrono::nanoseconds period, Work work) {
    spawn(std::move(name), [with = shared_, period, work = std::move(work)]() mutable {
      while (!with->stop.stop_requested()) {
        auto const next = std::chrono::steady_clock::now() + period;
        work();
        auto const now = std::chrono::steady_clock::now();
        if (next > now) (void)with->wait_for_stop(next - now);
      }
    });
  }

  /// Waits for the threads, at most `grace`, without asking them for anything. @return the names of those that are still
  /// there, in one line; they are left alone
  std::string wait_for_threads() {
    std::vector<entry> all;
    {
      std::scoped_lock const held(shared_->mutex);
      all.swap(threads_);
    }
    auto const deadline = std::chrono::steady_clock::now() + grace_;
    std::string left;
    for (entry& each : all) {
      if (each.done->wait_until(deadline)) {
        each.thread.join();
      } else {
        left += (left.empty() ? "" : ", ") + each.name;
        each.thread.detach();
      }
    }
    return left;
  }

  /// Asks for a stop, waits for the threads, and throws what the first of them failed with.
  /// **Errors** with exceptions `exception_of<unavailable>` that names the threads which did not end in time
  void join() {
    request_stop();
    std::string const left = wait_for_threads();
#if TAUTLINE_EXCEPTIONS
    std::exception_ptr failed;
    {
      std::scoped_lock const held(shared_->mutex);
      failed = std::exchange(shared_->failure, nullptr);
    }
    if (failed) std::rethrow_exception(failed);
    if (!left.empty()) throw unavailable_error(("threads that did not stop in time: " + left).c_str());
#endif
  }

  /// Threads that have not ended.
  [[nodiscard]] std::size_t running() {
    std::scoped_lock const held(shared_->mutex);
    std::size_t count = 0;
    for (entry const& each : threads_) count += each.done->is_set() ? 0U : 1U;
    return count;
  }
#if TAUTLINE_EXCEPTIONS
  /// The first failure so far, null if there is none.
  [[nodiscard]] std::exception_ptr failure() {
    std::scoped_lock const held(shared_->mutex);
    return shared_->failure;
  }
#endif
  /// Forgets a stop and a failure: for another training. Precondition: no thread is running.
  void clear_stop() {
    shared_->stop = std::stop_source();
#if TAUTLINE_EXCEPTIONS
    shared_->failure = nullptr;
#endif
  }

 private:
  /// That a thread has ended, for others to wait for.
  class finished {
   public:
    void set() {
      std::scoped_lock const held(mutex_);
      set_ = true;
      changed_.notify_all();
    }
    bool is_set() {
      std::scoped_lock const held(mutex_);
      return set_;
    }
    bool wait_until(std::chrono::steady_clock::time_point deadline) {
      std::unique_lock held(mutex_);
      return changed_.wait_until(held, deadline, [&] { return set_; });
    }

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool set_ = false;
  };
  struct entry {
    std::string name;
    std::shared_ptr<finished> done;
    std::thread thread;
  };

  /// What the threads look at: it outlives a coordinator whose thread did not end.
  struct shared {
    void request_stop() {
      stop.request_stop();
      { std::scoped_lock const held(mutex); }  // whoever looked before the stop is waiting now
      changed.notify_all();
    }
#if TAUTLINE_EXCEPTIONS
    void request_stop(std::exception_ptr failed) {
      {
        std::scoped_lock const held(mutex);
        if (failed && !failure) failure = std::move(failed);
      }
      request_stop();
    }
    std::exception_ptr failure;
#endif
    bool wait_for_stop(std::chrono::nanoseconds most) {
      std::unique_lock held(mutex);
      return changed.wait_for(held, most, [&] { return stop.stop_requested(); });
    }

    std::stop_source stop;
    std::mutex mutex;
    std::condition_variable changed;
  };

  std::shared_ptr<shared> shared_ = std::make_shared<shared>();
  std::vector<entry> threads_;
  std::chrono::milliseconds grace_;
};

/// Ties a `coordinator` to a session: its stop is the session's, and the session's end is its.
///
/// **Order** outermost: threads are asked to stop, and waited for, after all other hooks have had their `end` or `close`.
/// **Errors** what a thread failed with comes out of `close`, as an error of this hook (without exceptions threads have none),
/// and the kind `unavailable` with the names of the threads that do not end within the grace period.
/// **Stop** asks for one as soon as the coordinator is asked to stop, from whatever thread: "the coordinator was asked to
/// stop". **Cost** nothing in a step.
class coordinated {
 public:
  static constexpr bool outermost = true;
  static constexpr bool stateless = true;

  explicit coordinated(coordinator& threads) : threads_(&threads) {}

  template <class Session>
  void after_create_session(Session&, life& at) {
    if (!link_) link_ = std::make_unique<callback_type>(threads_->token(), ask{at.handle()});
  }
  void close(life& at) {
    link_.reset();  // waits for one that is asking just now
    threads_->request_stop();
    std::string const left = threads_->wait_for_threads();
#if TAUTLINE_EXCEPTIONS
    if (std::exception_ptr const failed = threads_->failure()) std::rethrow_exception(failed);
#endif
    if (!left.empty()) {
      at.fail(error_kind::unavailable, copied{("threads that did not stop in time: " + left).c_str()});
    }
  }

 private:
  struct ask {
    stop_handle session;
    void operator()() const { session.request_stop("the coordinator was asked to stop"); }
  };
  using callback_type = std::stop_callback<ask>;

  coordinator* threads_;
  std::unique_ptr<callback_type> link_;
};

TAUTLINE_END
