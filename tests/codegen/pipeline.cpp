// SPDX-License-Identifier: BSL-1.0
// Instructions a step of a pipeline, against the same statements written as the callbacks of a hook, and against a loop
// that has them in its body. What is more than in that loop, a hook by hand has, too.
//
// bound: every_run <= 1.02 * every_run_hook
// bound: every_run <= 1.06 * every_run_loop
// bound: triggered <= 1.02 * triggered_hook
// show: triggered_loop
// bound: late_trigger <= 1.02 * late_trigger_hook

#include <cstdint>

#include <tautline/core.hpp>
#include <tautline/hooks/pipeline.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "line_fit.hpp"
#include "variants.hpp"

namespace {

using namespace tautline;

constexpr double rate = 0.001;  // so slow that nothing stops within the steps

// --- average of every run, stop when it has been low three times in a row ------------------------------------------

auto every_run_pipeline() {
  return observe<"loss">() | smooth(0.9F) | where(below(-1.0F)) | for_times(3) | request_stop("converged");
}
struct every_run_hook {
  float share = 0.1F;  // parameters, as a hook for more than one occasion has them
  float limit = -1;
  step_number times = 3;
  float average = 0;
  bool started = false;
  step_number low = 0;

  void begin(auto&) { average = 0, started = false, low = 0; }
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto& ctx, auto& values) {
    float const loss = values[fetch<"loss">];
    average = started ? average + share * (loss - average) : loss;
    started = true;
    if (average < limit) {
      if (++low >= times) ctx.request_stop("converged");
    } else {
      low = 0;
    }
  }
};

// --- the same at every fourth step ---------------------------------------------------------------------------------

auto triggered_pipeline() {
  return observe<"loss">() | every_steps{4} | smooth(0.9F) | where(below(-1.0F)) | for_times(3) | request_stop("converged");
}
struct triggered_hook : every_run_hook {
  every_steps trigger{4};
  auto before_run(auto& ctx) { return ask_if(ctx.due(), fetch<"loss">); }
};

// --- the average of every run, looked at in every fourth ------------------------------------------------------------

auto late_trigger_pipeline() {
  return observe<"loss">() | smooth(0.9F) | every_steps{4} | where(below(-1.0F)) | request_stop("converged");
}
struct late_trigger_hook {
  float share = 0.1F;
  float limit = -1;
  every_steps trigger{4};
  float average = 0;
  bool started = false;
  void begin(auto&) { average = 0, started = false; }
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto& ctx, auto& values) {
    float const loss = values[fetch<"loss">];
    average = started ? average + share * (loss - average) : loss;
    started = true;
    if (ctx.due() && average < limit) ctx.request_stop("converged");
  }
};

// --- by hand --------------------------------------------------------------------------------------------------------

template <step_number Period>
struct hand_average : hand {
  float share = 0.1F;
  float limit = -1;
  step_number times = 3;
  step_number next = Period;
  float average = 0;
  bool started = false;
  step_number low = 0;

  [[gnu::noinline]] void run() {
    while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
      if (!points.next(x)) {
        stopped = true;
        break;
      }
      error = error_of(model, x);
      bool const due = Period == 1 || step + 1 >= next;
      if (due) loss = error * error;
      descend<rate>(model, x, error);
      ++step;
      if (due) {
        average = started ? average + share * (loss - average) : loss;
        started = true;
        if (average < limit) {
          if (++low >= times) stopped = true;
        } else {
          low = 0;
        }
        if (Period != 1) next = (step / volatile_period + 1) * volatile_period;
      }
    }
  }
  step_number volatile_period = Period;  // as in a trigger: known at run time only
};

template <class Hook>
[[gnu::noinline]] double with_hook(step_number steps, Hook hook) {
  auto session = monitored(make_graph<rate>(steps), static_cast<Hook&&>(hook));
  (void)session.run_to_completion(target<"train">);
  return session.raw()[fetch<"model">].slope;
}
template <step_number Period>
double by_hand(step_number steps) {
  hand_average<Period> loop;
  loop.points = {1, steps};
  loop.run();
  return loop.model.slope;
}

variant const all[] = {
    {"every_run", [](step_number steps) { return with_hook(steps, every_run_pipeline()); }},
    {"every_run_hook", [](step_number steps) { return with_hook(steps, every_run_hook{}); }},
    {"every_run_loop", by_hand<1>},
    {"triggered", [](step_number steps) { return with_hook(steps, triggered_pipeline()); }},
    {"triggered_hook", [](step_number steps) { return with_hook(steps, triggered_hook{}); }},
    {"triggered_loop", by_hand<4>},
    {"late_trigger", [](step_number steps) { return with_hook(steps, late_trigger_pipeline()); }},
    {"late_trigger_hook", [](step_number steps) { return with_hook(steps, late_trigger_hook{}); }},
};

}  // namespace

int main(int count, char** arguments) { return run_variants(all, count, arguments); }
