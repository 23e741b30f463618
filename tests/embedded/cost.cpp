// SPDX-License-Identifier: BSL-1.0
//
// What the hooks of examples/embedded cost on a Cortex-M: one training, once with hooks and once written by hand, in
// two images. Both do the same: the same stop test, gate, statistics, log and watchdog, the same note of an error, with
// their state in an object that outlives the loop, which is a function over a pointer in both. @see run.py, which
// compiles this and compares.
//
//   -DHAND=1      by hand
//   -DHOOKS=N     how many of the five take part; 5
//
// It prints lines `name value`: the results; `object`, the bytes of the object; `ticks` of the loop (25 MHz); and of
// what bytes a session consists: `graph`, `hooks` with what their triggers remember, `memory` for the frame and for
// errors, the session's `own`; and those that the `frame` takes. By hand these are 0.

#include <cstdint>

#include <tautline/core.hpp>
#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "../../examples/embedded/board/semihosting.hpp"
#include "../../examples/embedded/board/watchdog_timer.hpp"
#include "../../examples/embedded/hooks.hpp"
#include "../../examples/embedded/model/mlp.hpp"

#ifndef HOOKS
#define HOOKS 5
#endif

namespace {

constexpr std::int64_t all_steps = 1000;
constexpr int most_in_a_row = 3;
constexpr std::uint32_t watchdog_ticks = 25'000'000;
constexpr std::int64_t log_period = 16;

/// What a training reports: bits of the results, so that both forms can be compared.
struct report {
  std::uint32_t weights = 0;
  std::uint32_t mean = 0;
  std::uint32_t squares = 0;
  std::uint32_t logged = 0;
  std::uint32_t skipped = 0;
  std::uint32_t steps = 0;
  std::uint32_t ok = 0;
};

/// Bytes of a session.
struct consists_of {
  std::uint32_t graph = 0;
  std::uint32_t hooks = 0;
  std::uint32_t memory = 0;
  std::uint32_t own = 0;
  std::uint32_t frame = 0;
};

std::uint32_t digest(float const* numbers, std::size_t count) {
  std::uint32_t sum = 2166136261U;
  for (std::size_t i = 0; i < count; ++i) sum = (sum ^ __builtin_bit_cast(std::uint32_t, numbers[i])) * 16777619U;
  return sum;
}

std::uint32_t systick() { return *reinterpret_cast<std::uint32_t volatile*>(0xe000e018); }
void start_systick() {
  *reinterpret_cast<std::uint32_t volatile*>(0xe000e014) = 0xffffff;
  *reinterpret_cast<std::uint32_t volatile*>(0xe000e018) = 0;
  *reinterpret_cast<std::uint32_t volatile*>(0xe000e010) = 5;  // without interrupt
}

#if HAND

/// The same members as the session's graph and hooks have.
struct hand_loop {
  mlp::hidden_weights hidden = mlp::first_hidden();
  mlp::output_weights output = mlp::first_output();
  mlp::measurement sample;
  mlp::sensor source;
  mlp::activation active;
  float error;
  float loss;

  std::int64_t step = 0;
  bool stopped = false;
  char const* stop_reason = nullptr;
  std::int64_t stop_step = 0;
  char const* failure = nullptr;
  std::int64_t failure_step = 0;
  float failure_value = 0;

  std::int64_t last_step = all_steps;
#if HOOKS >= 2
  int in_a_row = 0;
  std::int64_t skipped = 0;
#endif
#if HOOKS >= 3
  std::uint32_t count = 0;
  float mean = 0;
  float squares = 0;
#endif
#if HOOKS >= 4
  std::int64_t next_log = log_period;
  std::uint32_t logged = 0;
  float log[32] = {};
#endif

  [[gnu::noipa]] bool run() {
#if HOOKS >= 5
    board::watchdog_timer::start(watchdog_ticks);
#endif
    if (step >= last_step) stop("reached step {}", step);
    while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
#if HOOKS >= 5
      board::watchdog_timer::kick();
#endif
      if (!source.next(sample)) {
        stop("end of input", step + 1);
        break;
      }
      mlp::activate(active, hidden, sample);
      error = mlp::error_of(output, active, sample);
      bool vetoed = false;
#if HOOKS >= 2
      loss = mlp::loss_of(error);
      if (!is_finite(loss)) {
        if (in_a_row >= most_in_a_row) {
          fail("loss is {}", step + 1, loss);
          break;
        }
        ++in_a_row;
        ++skipped;
        vetoed = true;
      } else {
        in_a_row = 0;
      }
#endif
      if (!vetoed) mlp::descend(hidden, output, sample, active, error);
      ++step;
      if (step >= last_step) stop("reached step {}", step);
#if HOOKS >= 3
      if (!vetoed) {
        ++count;
        float const off = loss - mean;
        mean += off / static_cast<float>(count);
        squares += off * (loss - mean);
      }
#endif
#if HOOKS >= 4
      if (step >= next_log) {
        log[logged++ % 32] = loss;
        next_log = (step / log_period + 1) * log_period;
      }
#endif
    }
#if HOOKS >= 5
    board::watchdog_timer::stop();
#endif
    return failure == nullptr;
  }

  static bool is_finite(float value) {
    return (__builtin_bit_cast(std::uint32_t, value) & 0x7f800000U) != 0x7f800000U;
  }
  void stop(char const* why, std::int64_t at) {
    if (stop_reason != nullptr) return;
    stop_reason = why;
    stop_step = at;
    __atomic_store_n(&stopped, true, __ATOMIC_RELAXED);
  }
  [[gnu::cold, gnu::noinline]] void fail(char const* why, std::int64_t at, float value) {
    failure = why;
    failure_step = at;
    failure_value = value;
  }
};

hand_loop training;
consists_of parts() { return {}; }

report train() {
  report done;
  done.ok = training.run() ? 1 : 0;
  done.weights = digest(training.hidden.data(), training.hidden.size()) ^
                 digest(training.output.data(), training.output.size());
  done.steps = static_cast<std::uint32_t>(training.step);
#if HOOKS >= 2
  done.skipped = static_cast<std::uint32_t>(training.skipped);
#endif
#if HOOKS >= 3
  done.mean = __builtin_bit_cast(std::uint32_t, training.mean);
  done.squares = __builtin_bit_cast(std::uint32_t, training.squares / static_cast<float>(training.count - 1));
#endif
#if HOOKS >= 4
  done.logged = training.logged ^ __builtin_bit_cast(std::uint32_t, training.log[(training.logged - 1) % 32]);
#endif
  return done;
}

#else

using tautline::target;
using checker = decltype(tautline::nan_checker<"loss">::with(tautline::skip_at_most{most_in_a_row}));
using statistics = running_statistics<"loss">;
using loss_log = ring_log<"loss", float, 32>;

auto make_session() {
  // room for the frame of run_to_completion and for one error: by hand there is room for one, too. 256 without this option
  return tautline::monitored(mlp::make_graph(), tautline::options{tautline::frame_bytes<104>{}}, tautline::stop_at_step{all_steps}
#if HOOKS >= 2
                             , checker(tautline::skip_at_most{most_in_a_row})
#endif
#if HOOKS >= 3
                             , statistics{}
#endif
#if HOOKS >= 4
                             , loss_log{tautline::every_steps{log_period}}
#endif
#if HOOKS >= 5
                             , board_watchdog{watchdog_ticks}
#endif
  );
}
auto training = make_session();

constexpr std::uint32_t hook_bytes = sizeof(tautline::stop_at_step)
#if HOOKS >= 2
                                     + sizeof(checker)
#endif
#if HOOKS >= 3
                                     + sizeof(statistics)
#endif
#if HOOKS >= 4
                                     + sizeof(loss_log) + sizeof(tautline::every_steps::memory)
#endif
#if HOOKS >= 5
                                     + sizeof(board_watchdog)
#endif
    ;
consists_of parts() {
  return {sizeof(mlp::make_graph().finalize()), hook_bytes, decltype(training)::memory_size,
          sizeof(tautline::detail::life_state), static_cast<std::uint32_t>(training.frame_bytes_used())};
}

report train() {
  report done;
  done.ok = training.run_to_completion(target<"train">) ? 1 : 0;
  training.close();
  auto values = training.raw();
  auto const& hidden = values[tautline::fetch<"hidden">];
  auto const& output = values[tautline::fetch<"output">];
  done.weights = digest(hidden.data(), hidden.size()) ^ digest(output.data(), output.size());
  done.steps = static_cast<std::uint32_t>(training.completed_steps());
#if HOOKS >= 2
  done.skipped = static_cast<std::uint32_t>(training.hook<checker>().skipped());
#endif
#if HOOKS >= 3
  done.mean = __builtin_bit_cast(std::uint32_t, training.hook<statistics>().mean());
  done.squares = __builtin_bit_cast(std::uint32_t, training.hook<statistics>().variance());
#endif
#if HOOKS >= 4
  auto& log = training.hook<loss_log>();
  done.logged = log.count() ^ __builtin_bit_cast(std::uint32_t, log.back(0));
#endif
  return done;
}

#endif

void say(char const* name, std::uint32_t number) {
  char line[13];  // a blank, ten digits, the end of the line
  char* at = line + sizeof line;
  *--at = 0;
  *--at = '\n';
  do *--at = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  *--at = ' ';
  board::print(name);
  board::print(at);
}

}  // namespace

int main() {
  start_systick();
  std::uint32_t const before = systick();
  report const done = train();
  std::uint32_t const ticks = (before - systick()) & 0xffffff;
  say("weights", done.weights);
  say("mean", done.mean);
  say("squares", done.squares);
  say("logged", done.logged);
  say("skipped", done.skipped);
  say("steps", done.steps);
  say("ok", done.ok);
  say("object", sizeof training);
  say("ticks", ticks);
  consists_of const session = parts();
  say("graph", session.graph);
  say("hooks", session.hooks);
  say("memory", session.memory);
  say("own", session.own);
  say("frame", session.frame);
  return 0;
}
