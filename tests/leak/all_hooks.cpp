// SPDX-License-Identifier: BSL-1.0
// Millions of steps under all hooks, with what they write. Prints the heap in use and the memory of the process after
// each part: "STEP HEAP_BYTES RESIDENT_BYTES".
//
// usage: all_hooks FOLDER STEPS PARTS [leak]   (with "leak" a hook of its own leaks 16 bytes every thousandth step)
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <malloc.h>
#include <unistd.h>

#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/early_stopping.hpp>
#include <tautline/hooks/ema.hpp>
#include <tautline/hooks/learning_rate_schedule.hpp>
#include <tautline/hooks/off_thread.hpp>
#include <tautline/hooks/on_rank_zero.hpp>
#include <tautline/hooks/pipeline.hpp>
#include <tautline/hooks/prometheus_metrics.hpp>
#include <tautline/hooks/row_logger.hpp>
#include <tautline/hooks/script.hpp>
#include <tautline/hooks/spike_checker.hpp>
#include <tautline/hooks/step_timer.hpp>
#include <tautline/hooks/stop_on_signal.hpp>
#include <tautline/hooks/summary_saver.hpp>
#include <tautline/hooks/timeline.hpp>
#include <tautline/hooks/triggered.hpp>
#include <tautline/hooks/watchdog.hpp>
#include <tautline/io/background_checkpoints.hpp>
#include <tautline/io/event_file.hpp>
#include <tautline/sessions/static_graph.hpp>
#include <tautline/tautline.hpp>

using namespace tautline;

namespace {

struct noise {
  std::uint64_t random = 1;
  bool operator()(float& out) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    out = static_cast<float>(random >> 40) * 0x1p-24F;
    return true;
  }
  auto state() { return fields{field<"random">(random)}; }
};

script_body watch(script_context<value_of<"loss", float>> life) {
  float best = co_await life.next_value();
  for (;;) {
    float const loss = co_await life.next_value();
    if (loss < best) best = loss;
  }
}

struct report {
  using asks = fetches<"loss">;
  static constexpr bool stateless = true;
  double sum = 0;
  void on_trigger(auto&, since_triggered const&, auto const& values) { sum += values[fetch<"loss">]; }
};

/// Shows that the test can fail.
struct leaking {
  static constexpr bool stateless = true;
  bool leaks;
  every_steps trigger{1000};
  void after_run(auto& ctx) {
    if (leaks && ctx.due()) {
      void* volatile const lost = std::malloc(16);
      static_cast<void>(lost);
    }
  }
};

long resident() {
  long pages = 0, all = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &all, &pages) != 2) pages = -1;
  if (file != nullptr) std::fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  std::string const folder = arguments[1];
  step_number const steps = std::atoll(arguments[2]);
  step_number const parts = std::atoll(arguments[3]);
  bool const leaks = count > 4 && std::strcmp(arguments[4], "leak") == 0;
  step_number const rare = steps / 20;  // what writes to a file; what formats lines is ten times as rare
  auto const quiet = [](std::string_view) {};
  try {
    event_file events(folder + "/events");
    background_checkpoints saved(folder + "/checkpoints", keep_latest{2});
    std::vector<float> const held_out{0.1F, 0.5F, 0.9F};
    auto graph = static_graph{}
                     .variable<"w">(std::array<float, 16>{})
                     .placeholder<"rate">(0.01F)
                     .placeholder<"offset">(0.0F)
                     .source<"x">(0.0F, noise{})
                     .op<"loss", "w", "x", "offset">([](auto const& w, float x, float offset) {
                       return (w[0] - x) * (w[0] - x) + offset;
                     })
                     .op<"accuracy", "loss">([](float loss) { return 1 - loss; })
                     .update<"train", "w", "x", "rate">([](auto& w, float x, float rate) {
                       for (float& value : w) value -= rate * (value - x);
                     });
    auto session = monitored(
        graph, options{restore_from{saved}, with_clock{steady_clock_ticks{}}},  //
        stop_on_signal{}, stop_at_step{steps}, leaking{leaks},
        stopper<"loss">{stop_criteria{.max_seconds = 3600, .abs_loss_change_tol = 1e-12}},
        nan_checker<"loss">::with(skip_at_most{3}), spike_checker<"loss">::with(skip_at_most{1'000'000'000}),
        learning_rate_schedule<"rate">(schedules::cosine{.initial = 0.01, .steps = steps}),
        feed_fn<"offset">([](step_number) { return 0.001F; }),
        stop_if_no_decrease<"loss">{{.patience = 1'000'000'000}}, stop_if_above<"accuracy">{{.bound = 2}},
        tensor_logger<"loss", "w">{every_steps{rare}, {.log = quiet}}, loss_logger{every_steps{rare}, {.log = quiet}},
        step_rate_logger{every_steps{rare}, {.log = quiet, .writer = events}}, progress_bar<"loss">{steps},
        summary_saver<"loss", "w">{events, every_steps{rare}},
        jsonl_logger<"loss">{folder + "/loss.jsonl", every_steps{rare}}, csv_logger<"loss">{folder + "/loss.csv", every_steps{rare}},
        prometheus_metrics<"loss">{folder + "/train.prom", every_steps{rare}}, timeline{folder + "/trace.json", every_steps{rare}},
        evaluator{every_steps{rare}, datasets{dataset<"held-out">([&]() -> auto const& { return held_out; })},
                  metrics<"accuracy">{}, [](float x) { return feed<"x">(x); }, {}, {.log = quiet}},
        observe<"loss">() | every_steps{10} | smooth(0.9F) | where(below(-1.0F)) | request_stop("never"),
        script<&watch, frame_bytes<512>, not_resumable>{}, triggered{report{}, every_steps{10}},
        on_rank_zero{0, tensor_logger<"accuracy">{every_steps{rare}, {.log = quiet}}},
        off_thread{tensor_logger<"loss">{every_steps{rare}, {.log = quiet}}}, final_ops<"accuracy">{},
        ema<"w">(graph, {.decay = 0.99F}, every_steps{10}), watchdog{{.step = 3600}}, step_timer{},
        checkpoint_saver{saved, every_steps{rare}});
    for (step_number part = 1; part <= parts; ++part) {
      (void)session.run_steps(steps / parts, target<"train">);
      (void)saved.finish();
      std::printf("%lld %zu %ld\n", static_cast<long long>(session.completed_steps()), mallinfo2().uordblks, resident());
      std::fflush(stdout);
    }
    session.close();
    return 0;
  } catch (std::exception const& failed) {
    std::fprintf(stderr, "%s\n", failed.what());
    return 1;
  }
}
