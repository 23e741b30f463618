// SPDX-License-Identifier: BSL-1.0
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include <tautline/hooks/basic_evaluator.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/hooks/stop_on_signal.hpp>

#include "memory_store.hpp"
#include "support.hpp"

using namespace support;
using tautline::basic_evaluator;
using tautline::dataset;
using tautline::datasets;
using tautline::every_steps;
using tautline::feed;
using tautline::metrics;
using tautline::monitored;
using tautline::options;
using tautline::stop_at_step;
using tautline::stop_on_signal;
using tautline::try_monitored;

namespace {

/// Sends itself a signal in the run of a step.
struct sender {
  step_number at;
  int signal;
  void after_run(auto& ctx) const {
    if (ctx.step() == at) (void)std::raise(signal);
  }
};

struct keeper {
  tautline::stop_handle* kept;
  void begin(auto&, life& at) const { *kept = at.handle(); }
};

volatile std::sig_atomic_t old_handler_calls = 0;
void old_handler(int) { old_handler_calls = old_handler_calls + 1; }

/// doctest has handlers of its own.
struct plain_signals {
  plain_signals() {
    for (int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  }
};

/// What handles a signal now: "default", "ignored", "old", "other".
std::string handler_of(int signal) {
  struct sigaction now {};
  ::sigaction(signal, nullptr, &now);
  if (now.sa_handler == SIG_DFL) return "default";
  if (now.sa_handler == SIG_IGN) return "ignored";
  return now.sa_handler == &old_handler ? "old" : "other";
}

/// A process of its own, which says things through a pipe. What it says is read by `line()`.
class child {
 public:
  template <class Body>
  explicit child(Body body) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    id_ = ::fork();
    REQUIRE(id_ >= 0);
    if (id_ == 0) {
      ::close(ends[0]);
      std::signal(SIGTERM, SIG_DFL);
      std::signal(SIGINT, SIG_DFL);
      int code = 99;
      TAUTLINE_TRY {
        code = body([&](std::string const& words) {
          std::string const line = words + "\n";
          if (::write(ends[1], line.data(), line.size()) < 0) ::_exit(98);
        });
      }
      TAUTLINE_CATCH_ALL {}
      ::_exit(code);
    }
    ::close(ends[1]);
    from_ = ends[0];
  }
  child(child const&) = delete;
  child& operator=(child const&) = delete;
  ~child() { ::close(from_); }

  std::string line() const {
    std::string read;
    for (char c = 0; ::read(from_, &c, 1) == 1 && c != '\n';) read += c;
    return read;
  }
  void kill(int signal) const { ::kill(id_, signal); }
  /// "exit 0" or "killed by 15"
  std::string outcome() const {
    int status = 0;
    ::waitpid(id_, &status, 0);
    if (WIFSIGNALED(status)) return "killed by " + std::to_string(WTERMSIG(status));
    return "exit " + std::to_string(WEXITSTATUS(status));
  }

 private:
  pid_t id_ = -1;
  int from_ = -1;
};

void sleep_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

/// Steps of a millisecond, and a word after the third one.
template <class Say>
auto slow_steps(world& of, Say const& say) {
  of.in_run = [&say](long run) {
    if (run == 3) say("running");
    sleep_ms(1);
    return tautline::status{};
  };
  return scripted(of);
}

template <class Say>
struct slow_saver {
  using category = tautline::saver;
  static constexpr bool stateless = true;
  Say const* say;
  int milliseconds;
  bool wanted = false;
  void end(auto&) { wanted = true; }
  [[nodiscard]] bool wants_save() const { return wanted; }
  void save(tautline::training_state const& state, life&) {
    wanted = false;
    (*say)("saving " + number(state.step() > 2 ? step_number{1} : step_number{0}));
    sleep_ms(milliseconds);
    (*say)("saved");
  }
};

}  // namespace

TEST_CASE_FIXTURE(plain_signals, "a signal stops after the step in progress, and its name is the reason") {
  world of;
  auto session = monitored(scripted(of), sender{3, SIGTERM}, stop_on_signal{}, probe{&of, "later"});
  auto const done = session.run_to_completion();
  CHECK(done.steps == 3);
  CHECK(described(done.stop) == "stop by stop_on_signal at 3: signal 15 (SIGTERM)");
  CHECK(session.hook<stop_on_signal>().received() == SIGTERM);
  session.close();
  CHECK(count(of.trace, "after_run later step=3 loss=0.333333") == 1);
  CHECK(count(of.trace, "end later") == 1);
  CHECK(session.hook<stop_on_signal>().received() == SIGTERM);
  CHECK(handler_of(SIGTERM) == "default");
}

TEST_CASE_FIXTURE(plain_signals, "handlers that were there before are put back, whatever way out") {
  std::signal(SIGINT, &old_handler);
  {
    world of;
    auto session = monitored(scripted(of), stop_on_signal{});
    CHECK(handler_of(SIGINT) == "other");
    CHECK(handler_of(SIGTERM) == "other");
    (void)std::raise(SIGINT);
    CHECK(old_handler_calls == 0);
    CHECK(session.should_stop());
  }
  CHECK(handler_of(SIGINT) == "old");
  {
    world of;
    of.in_run = [](long) { return tautline::status{error_kind::internal, "broken"}; };
    auto session = monitored(scripted(of), stop_on_signal{});
    (void)session.try_run();
    CHECK(handler_of(SIGINT) == "old");  // the error has closed the session
  }
  {
    world of;
    of.in_open = [](long) { return tautline::status{error_kind::internal, "broken"}; };
    auto session = try_monitored(scripted(of), stop_on_signal{});
    CHECK(session.status().kind == error_kind::internal);
    CHECK(handler_of(SIGINT) == "old");
  }
  {
    world of;
    auto session = monitored(scripted(of), stop_on_signal{});
    session.abandon();
    CHECK(handler_of(SIGINT) == "old");
  }
  {
    stop_on_signal unused;
    stop_on_signal moved(std::move(unused));
    moved = stop_on_signal{SIGUSR1};
  }
  CHECK(handler_of(SIGINT) == "old");
  std::signal(SIGINT, SIG_DFL);
}

TEST_CASE_FIXTURE(plain_signals, "a handler that somebody has put in meanwhile stays") {
  {
    world of;
    auto session = monitored(scripted(of), stop_on_signal{SIGUSR1});
    std::signal(SIGUSR1, &old_handler);
  }
  CHECK(handler_of(SIGUSR1) == "old");
  std::signal(SIGUSR1, SIG_DFL);
}

TEST_CASE_FIXTURE(plain_signals, "what is ignored stays ignored") {
  std::signal(SIGINT, SIG_IGN);
  {
    world of;
    auto session = monitored(scripted(of), stop_on_signal{});
    (void)std::raise(SIGINT);
    CHECK_FALSE(session.should_stop());
    CHECK(handler_of(SIGINT) == "ignored");
    CHECK(handler_of(SIGTERM) == "other");
  }
  CHECK(handler_of(SIGINT) == "ignored");
  std::signal(SIGINT, SIG_DFL);
}

TEST_CASE_FIXTURE(plain_signals, "several sessions: each that watches the signal stops, and the handler stays until the last has closed") {
  world first, second, third;
  auto a = monitored(scripted(first), stop_on_signal{});
  {
    auto b = monitored(scripted(second), stop_on_signal{SIGUSR2, SIGTERM});
    auto c = monitored(scripted(third), stop_on_signal{SIGUSR2});
    (void)std::raise(SIGTERM);
    CHECK(a.should_stop());
    CHECK(b.should_stop());
    CHECK_FALSE(c.should_stop());
    CHECK(written(b.stop().reason) == "signal 15 (SIGTERM)");
    CHECK(c.hook<stop_on_signal>().received() == 0);
  }
  CHECK(handler_of(SIGTERM) == "other");
  CHECK(handler_of(SIGUSR2) == "default");
  a.close();
  CHECK(handler_of(SIGTERM) == "default");
  // a later session begins afresh
  world fourth;
  auto d = monitored(scripted(fourth), sender{2, SIGTERM}, stop_on_signal{});
  CHECK_FALSE(d.should_stop());
  CHECK(d.run_to_completion().steps == 2);
}

TEST_CASE_FIXTURE(plain_signals, "the request survives a recovery, and somebody's earlier request is kept") {
  {
    world of;
    of.in_run = [](long run) {
      if (run != 2) return tautline::status{};
      (void)std::raise(SIGTERM);
      return tautline::status{error_kind::aborted, "broken"};
    };
    of.first_step = 1;
    auto session = monitored(scripted(of), stop_on_signal{});
    CHECK(session.run_to_completion().steps == 2);
    CHECK(of.sessions == 2);
    CHECK(of.runs == 3);
    CHECK(written(session.stop().reason) == "signal 15 (SIGTERM)");
  }
  world other;
  auto second = monitored(scripted(other), stop_at_step{2}, sender{2, SIGTERM}, stop_on_signal{});
  CHECK(contains(second.run_to_completion().stop.by, "stop_at_step"));
  CHECK(second.hook<stop_on_signal>().received() == SIGTERM);
}

TEST_CASE_FIXTURE(plain_signals, "numbers that are no signal, or cannot be caught, are refused") {
  for (int wrong : {0, -1, 65, 1000, SIGKILL, SIGSTOP}) {
    CAPTURE(wrong);
    world of;
    auto session = try_monitored(scripted(of), stop_on_signal{SIGTERM, wrong});
    CHECK(session.status().kind == error_kind::invalid_argument);
    CHECK(session.status().where == callback::begin);
    CHECK(handler_of(SIGTERM) == "default");
  }
}

TEST_CASE_FIXTURE(plain_signals, "more sessions than there are places") {
  std::vector<stop_on_signal> hooks(65);
  auto keep = [&](auto& self, std::size_t depth) -> int {
    world of;
    auto session = try_monitored(scripted(of), std::ref(hooks[depth]));
    if (!session.is_open()) return static_cast<int>(depth);
    return depth == 64 ? -1 : self(self, depth + 1);
  };
  CHECK(keep(keep, 0) == 64);
  CHECK(handler_of(SIGTERM) == "default");
}

TEST_CASE_FIXTURE(plain_signals, "it costs a step nothing, and is allowed in real-time mode") {
  world of;
  auto session = monitored(scripted(of), options{tautline::real_time{}}, stop_on_signal{SIGUSR1}, stop_at_step{2});
  CHECK(session.run_to_completion().steps == 2);
}

// --- in processes of their own --------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(plain_signals, "a process that is killed finishes its step, calls end and saves") {
  child const process([](auto const& say) {
    world of;
    auto session = monitored(slow_steps(of, say), stop_on_signal{}, slow_saver<std::remove_cvref_t<decltype(say)>>{&say, 1});
    auto const done = session.run_to_completion();
    say(written(done.stop.reason));
    session.close();
    return 7;
  });
  CHECK(process.line() == "running");
  process.kill(SIGTERM);
  CHECK(process.line() == "signal 15 (SIGTERM)");
  CHECK(process.line() == "saving 1");
  CHECK(process.line() == "saved");
  CHECK(process.outcome() == "exit 7");
}

TEST_CASE_FIXTURE(plain_signals, "a second signal in the middle of a slow save acts at once") {
  for (int second : {SIGINT, SIGTERM}) {
    child const process([](auto const& say) {
      world of;
      auto session = monitored(slow_steps(of, say), stop_on_signal{}, slow_saver<std::remove_cvref_t<decltype(say)>>{&say, 60'000});
      (void)session.run_to_completion();
      session.close();
      return 0;
    });
    CHECK(process.line() == "running");
    process.kill(SIGINT);
    CHECK(process.line() == "saving 1");
    process.kill(second);
    CHECK(process.outcome() == "killed by " + std::to_string(second));
    CHECK(process.line() == "");  // not "saved"
  }
}

TEST_CASE_FIXTURE(plain_signals, "a signal in an evaluation ends it, and nothing is published") {
  child const process([](auto const& say) {
    world of;
    int reports = 0;
    auto session = monitored(
        scripted(of), stop_on_signal{},
        basic_evaluator{every_steps{1}, datasets{dataset<"validation">([&] {
                          return [&say, n = 0]() mutable -> int const* {
                            if (++n == 3) say("evaluating");
                            sleep_ms(1);
                            return &n;  // for ever
                          };
                        })},
                        metrics<"error">{}, [](int) { return tautline::run_args{}; }, tautline::equal_weights{},
                        [&](step_number, tautline::evaluation const&) { ++reports; }});
    auto const done = session.run_to_completion();
    say(written(done.stop.reason) + ", reports " + std::to_string(reports));
    session.close();
    return 0;
  });
  CHECK(process.line() == "evaluating");
  process.kill(SIGTERM);
  CHECK(process.line() == "signal 15 (SIGTERM), reports 0");
  CHECK(process.outcome() == "exit 0");
}

TEST_CASE_FIXTURE(plain_signals, "a stop in an evaluation leaves the last means; one that was asked for before does not hinder it") {
  world of;
  tautline::stop_handle stop;
  int elements = 0;
  std::vector<float> const data{1, 2, 3};
  auto hook = basic_evaluator{every_steps{2},
                              datasets{dataset<"d">([&]() -> auto const& { return data; })},
                              metrics<"error">{},
                              [&](float) {
                                if (++elements == 5) stop.request_stop("enough");
                                return tautline::run_args{};
                              }};
  auto session = monitored(scripted(of), keeper{&stop}, std::ref(hook));
  CHECK(session.run_to_completion().steps == 4);
  CHECK(elements == 5);
  CHECK(hook.evaluations() == 1);
  // step 2: raw runs 3, 4, 5 on copies of a backend whose value is one over the run
  CHECK(hook.get<"d", "error">() == doctest::Approx((1.0 / 3 + 1.0 / 4 + 1.0 / 5) / 3));

  world other;
  elements = 100;
  auto last = monitored(scripted(other), stop_at_step{2}, std::ref(hook));
  CHECK(last.run_to_completion().steps == 2);
  CHECK(hook.evaluations() == 1);
}

TEST_CASE_FIXTURE(plain_signals, "a signal that comes to another thread stops the session, and sessions may come and go meanwhile") {
  child const process([](auto const& say) {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    std::atomic<bool> over{false};
    std::thread other([&] {
      while (!over) sleep_ms(1);  // takes the signals
    });
    ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    std::thread coming_and_going([&] {
      while (!over) {
        world short_lived;
        auto session = monitored(scripted(short_lived), stop_on_signal{SIGUSR1});
        (void)session.try_run();
      }
    });
    world of;
    auto session = monitored(slow_steps(of, say), stop_on_signal{SIGUSR1});
    say(written(session.run_to_completion().stop.reason));
    over = true;
    coming_and_going.join();
    other.join();
    return 0;
  });
  CHECK(process.line() == "running");
  process.kill(SIGUSR1);
  CHECK(process.line() == "signal " + std::to_string(SIGUSR1) + " (SIGUSR1)");
  CHECK(process.outcome() == "exit 0");
}
