// SPDX-License-Identifier: BSL-1.0
// What can be said of every hook by its type, and by running it: for hook_table.py, which reads this file's lines
// `HOOK(name, expression)`. Without arguments it prints a line for each; with one it trains with each under callgrind, which
// counts what `small_NAME` and `large_NAME` cost. `busy` hooks act in every step, others wait for something that never comes.
#include <array>
#include <cstdio>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tautline/adapt/chrono.hpp>
#include <tautline/core.hpp>
#include <tautline/hooks.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/off_thread.hpp>
#include <tautline/sessions/static_graph.hpp>
#include <tautline/testing/count_allocations.hpp>

namespace {

using namespace tautline;

struct numbers {
  std::uint32_t state = 1;
  bool operator()(double& x) {
    state = state * 1664525U + 1013904223U;
    x = static_cast<double>(state >> 8) * (1.0 / 16777216.0);
    return true;
  }
};
auto graph() {
  return static_graph{}
      .variable<"w">(0.0)
      .placeholder<"rate">(1e-3)
      .source<"x">(0.0, unsaved{numbers{}})
      .op<"loss", "x">([](double x) { return 1 + x * 1e-3; })
      .update<"train", "w", "x", "rate", "loss">([](double& w, double x, double rate, double loss) { w += rate * x * loss; });
}

/// Counts; the time is of no interest.
struct counter {
  static inline std::uint64_t ticks = 0;
  static std::uint64_t now() { return ++ticks; }
  static constexpr std::uint64_t ticks_per_second() { return 1'000'000; }
};
struct quiet {
  void add_scalar(std::string_view, double, step_number) {}
  status save(training_state const&) { return {}; }
  restored restore(training_state const&) { return {}; }
};
quiet out;
struct no_sleep {
  void operator()(std::uint32_t) const {}
};
logging to() {
  return {.log = [](std::string_view) {}, .writer = {}, .clock = counter{}, .format = {}};
}
step_number period(bool busy) { return busy ? 1 : step_number{1} << 40; }

struct reads_loss {
  static constexpr bool stateless = true;
  static constexpr bool real_time = true;
  using asks = fetches<"loss">;
  double last = 0;
  auto before_run(auto&) const noexcept { return fetch<"loss">; }
  void after_run(auto&, auto& values) noexcept { last = values[fetch<"loss">]; }
};
struct looks_at_loss {
  static constexpr bool stateless = true;
  using asks = fetches<"loss">;
  double last = 0;
  void on_trigger(life&, since_triggered const&, auto const& values) { last = values[fetch<"loss">]; }
};
script_body waits(script_context<value_of<"loss", double>> life) {
  for (;;) {
    double const loss = co_await life.next_value();
    if (loss < 0) break;
  }
}
auto held_out() {
  return datasets{dataset<"validation">([] { return std::vector<double>{1, 2}; })};
}
auto const feeding = [](double x) { return feed<"x">(x); };

template <class Callback, class Hook>
char const* if_named(char const* name) {
  return Callback::template named<Hook>() ? name : "";
}
template <class Hook>
void describe(char const* name) {
  using namespace tautline::detail;
  std::printf("%s|%s%s%s%s%s%s%s%s%s%s|", name, if_named<begin_callback, Hook>("begin "),
              if_named<after_create_session_callback, Hook>("after_create_session "), if_named<before_run_callback, Hook>("before_run "),
              if_named<gate_callback, Hook>("gate "), if_named<after_run_callback, Hook>("after_run "), if_named<end_callback, Hook>("end "),
              if_named<on_error_callback, Hook>("on_error "), if_named<close_callback, Hook>("close "),
              requires(Hook& hook) { hook.wants_save(); } ? "save " : "", watching<Hook> ? "on_enter on_leave " : "");
  bool real_time = false;
  if constexpr (requires { Hook::real_time; }) real_time = Hook::real_time;
  std::printf("%s|%s|%zu|", real_time ? "yes" : "no", lists_state<Hook> ? "saved" : stateless<Hook> ? "none" : "not listed", sizeof(Hook));
}

/// Calls `body` with a session that has the hook.
template <class Make, class Body>
void with_session(Make make, bool busy, Body body) {
  using hook = decltype(make(busy));
  if constexpr (!std::is_move_constructible_v<hook>) {
    hook kept = make(busy);
    auto session = monitored(graph(), options{with_clock{counter{}}}, std::ref(kept));
    body(session);
  } else if constexpr (requires { hook::needs_restorer; }) {
    auto session = monitored(graph(), options{with_clock{counter{}}, restore_from{out}}, make(busy));
    body(session);
  } else {
    auto session = monitored(graph(), options{with_clock{counter{}}}, make(busy));
    body(session);
  }
}
template <class Make>
void count_memory(Make make) {
  with_session(make, true, [](auto& session) {
    (void)session.run_steps(100, target<"train">);
    auto const before = testing::allocations();
    (void)session.run_steps(200, target<"train">);
    std::printf("%s\n", testing::allocations() == before ? "no" : "yes");
  });
}
template <class Make>
[[gnu::noinline]] void train(Make make, long steps) {
  with_session(make, false, [steps](auto& session) { (void)session.run_steps(steps, target<"train">); });
}
[[gnu::noinline]] void train_alone(long steps) {
  auto session = monitored(graph(), options{with_clock{counter{}}});
  (void)session.run_steps(steps, target<"train">);
}

constexpr long few = 1000, many = 3000;

}  // namespace

extern "C" {
[[gnu::noinline]] void small_none() { train_alone(few); }
[[gnu::noinline]] void large_none() { train_alone(many); }
}

#define HOOKS                                                                                                                \
  HOOK(stop_at_step, stop_at_step{step_number{1} << 40})                                                                      \
  HOOK(stopper, stopper<"loss">{{.max_steps = step_number{1} << 40, .abs_loss_change_tol = 1e-9}})                            \
  HOOK(early_stopping, stop_if_no_decrease<"loss">{{.patience = step_number{1} << 40}})                                       \
  HOOK(stop_on_signal, stop_on_signal{})                                                                                      \
  HOOK(nan_checker, nan_checker<"loss">{})                                                                                    \
  HOOK(nan_checker_skips, nan_checker<"loss">::with(skip_at_most{2}))                                                         \
  HOOK(nan_checker_goes_back, nan_checker<"loss">::with(roll_back_at_most{2}))                                                \
  HOOK(spike_checker, spike_checker<"loss">{})                                                                                \
  HOOK(tensor_logger, tensor_logger<"loss">{every_steps{period(busy)}, to()})                                                 \
  HOOK(loss_logger, loss_logger{every_steps{period(busy)}, to()})                                                             \
  HOOK(step_rate_logger, step_rate_logger{every_steps{period(busy)}, to()})                                                   \
  HOOK(progress_bar, progress_bar<"loss">{1000, {.interval = busy ? 0 : 1e9, .terminal = terminal::yes, .clock = counter{}, .output = [](std::string_view) {}}}) \
  HOOK(jsonl_logger, jsonl_logger<"loss">{"hook.jsonl", every_steps{period(busy)}})                                           \
  HOOK(csv_logger, csv_logger<"loss">{"hook.csv", every_steps{period(busy)}})                                                 \
  HOOK(summary_saver, summary_saver<"loss">{out, every_steps{period(busy)}})                                                  \
  HOOK(prometheus_metrics, prometheus_metrics<"loss">{"hook.prom", every_steps{period(busy)}})                                \
  HOOK(checkpoint_saver, checkpoint_saver{out, every_steps{period(busy)}})                                                    \
  HOOK(basic_evaluator, basic_evaluator{every_steps{period(busy)}, held_out(), metrics<"loss">{}, feeding, equal_weights{}, [](step_number, evaluation const&) {}}) \
  HOOK(evaluator, evaluator{every_steps{period(busy)}, held_out(), metrics<"loss">{}, feeding, equal_weights{}, {.log = [](std::string_view) {}}}) \
  HOOK(timeline, timeline<>::with("hook.json", every_steps{period(busy)}, counter{}))                                         \
  HOOK(basic_step_timer, basic_step_timer{{.deadline = 1}, counter{}})                                                        \
  HOOK(phase_clock, phase_clock{{.step = 60}, 1024})                                                                          \
  HOOK(watchdog, watchdog{{.step = 60}, {.log = false}})                                                                      \
  HOOK(feed_fn, feed_fn<"rate">([](step_number) noexcept { return 1e-3; }))                                                   \
  HOOK(final_ops, final_ops<"loss">{})                                                                                        \
  HOOK(global_step_waiter, global_step_waiter{0, no_sleep{}, [](char const*) {}})                                             \
  HOOK(learning_rate_schedule, learning_rate_schedule<"rate">(schedules::step_decay{.initial = 1e-3}))                        \
  HOOK(ema, [] { auto of = graph(); return ema<"w">(of, {.decay = 0.9}); }())                                                 \
  HOOK(ema_on_heap, ema_on_heap{{.decay = 0.9}})                                                                              \
  HOOK(pipeline, observe<"loss">() | smooth(0.5) | where(below(-1.0)) | request_stop("below"))                                \
  HOOK(script, script<&waits>{})                                                                                              \
  HOOK(triggered, triggered{looks_at_loss{}, every_steps{period(busy)}})                                                      \
  HOOK(on_rank_zero, on_rank_zero{0, reads_loss{}})                                                                           \
  HOOK(any_hook, any_hook<reads<"loss", double>>{})                                                                           \
  HOOK(off_thread, off_thread{reads_loss{}})

namespace {
#define HOOK(name, ...) \
  auto make_##name([[maybe_unused]] bool busy) { return __VA_ARGS__; }
HOOKS
#undef HOOK
}  // namespace

extern "C" {
#define HOOK(name, ...)                                        \
  [[gnu::noinline]] void small_##name() { train(make_##name, few); } \
  [[gnu::noinline]] void large_##name() { train(make_##name, many); }
HOOKS
#undef HOOK
}

int main(int count, char**) {
  bool const counting = count > 1;
  if (counting) small_none(), large_none();
#define HOOK(name, ...)                                           \
  if (counting) {                                                 \
    small_##name(), large_##name();                               \
  } else {                                                        \
    describe<decltype(make_##name(false))>(#name);                \
    count_memory(make_##name);                                    \
  }
  HOOKS
#undef HOOK
}
