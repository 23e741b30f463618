// SPDX-License-Identifier: BSL-1.0
// Instructions a step of a script: in the runs that resume it, and in those that do not concern it. More than a class
// needs, as a resume is a call that the compiler does not see through: what the graph holds must be in memory around it.
//
// bound: resumed <= 2.2 * resumed_hook
// bound: waiting <= 2 * waiting_hook

#include <cstdint>

#include <tautline/core.hpp>
#include <tautline/hooks/script.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "line_fit.hpp"
#include "variants.hpp"

namespace {

using namespace tautline;

constexpr double rate = 0.001;  // so slow that nothing stops within the steps

// --- an average of every value, and a stop when it has been low three times in a row --------------------------------

script_body average_of_all(script_context<value_of<"loss", float>> life) {
  float average = co_await life.next_value();
  for (int low = 0; low < 3; ++low) {
    float const loss = co_await life.next_value();
    average += 0.1F * (loss - average);
    if (!(average < -1.0F)) low = -1;
  }
  life.request_stop("converged");
}
struct average_hook {
  float average = 0;
  bool started = false;
  int low = 0;
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto& ctx, auto& values) {
    float const loss = values[fetch<"loss">];
    average = started ? average + 0.1F * (loss - average) : loss;
    started = true;
    low = average < -1.0F ? low + 1 : 0;
    if (low == 3) ctx.request_stop("converged");
  }
};

// --- runs that do not concern it ------------------------------------------------------------------------------------

struct waiting_hook {
  every_steps trigger{1 << 30};
  float last = 0;
  auto before_run(auto& ctx) { return ask_if(ctx.due(), fetch<"loss">); }
  void after_run(auto&, auto& values) { last = values[fetch<"loss">]; }
};

template <class Hook>
[[gnu::noinline]] double with_hook(step_number steps, Hook hook) {
  auto session = monitored(make_graph<rate>(steps), static_cast<Hook&&>(hook));
  (void)session.run_to_completion(target<"train">);
  return session.raw()[fetch<"model">].slope;
}
variant const all[] = {
    {"resumed", [](step_number steps) { return with_hook(steps, script<&average_of_all>{}); }},
    {"resumed_hook", [](step_number steps) { return with_hook(steps, average_hook{}); }},
    {"waiting", [](step_number steps) { return with_hook(steps, script<&average_of_all>::with(every_steps{1 << 30})); }},
    {"waiting_hook", [](step_number steps) { return with_hook(steps, waiting_hook{}); }},
};

}  // namespace

int main(int count, char** arguments) { return run_variants(all, count, arguments); }
