// SPDX-License-Identifier: BSL-1.0
// Instructions a step, against the loop written by hand with its state in an object that outlives it.
//
// bound: none <= 1.02 * hand
// bound: idle <= 1.02 * hand
// bound: working <= 1.05 * hand_working
//
// and what else can be counted: hooks that do nothing leave no call, no jump through a pointer and no locked instruction in
// the loop, those that work neither; nothing is allocated; code and constants, of all that can be reached from a variant
//
// bound: calls(idle) <= 0
// bound: indirect_jumps(idle) <= 0
// bound: locks(idle) <= 0
// bound: calls(working) <= 0
// bound: indirect_jumps(working) <= 0
// bound: locks(working) <= 0
// bound: allocations(none) <= 0
// bound: allocations(idle) <= 0
// bound: allocations(working) <= 0
// bound: session_bytes(none) <= 128
// bound: session_bytes(idle) <= 128
// bound: session_bytes(working) <= 160
// bound: bytes(none) <= 1 * bytes(hand) + 10500
// bound: bytes(idle) <= 1 * bytes(none) + 1000
// bound: bytes(working) <= 1 * bytes(none) + 2200
// show: bytes(hand_working)

#include <cstdint>
#include <utility>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "variants.hpp"

namespace {

using tautline::fetch;
using tautline::step_number;
using tautline::target;

// --- the model: a line fitted by stochastic gradient descent --------------------------------------------------------

struct random_points {
  std::uint32_t state = 1;
  step_number left;

  bool next(float& x) {
    if (left == 0) return false;
    --left;
    state = state * 1664525U + 1013904223U;
    x = static_cast<float>(state >> 8) * (1.0F / 16777216.0F);
    return true;
  }
};

/// Two types, so that no vectoriser pairs them: whether it does depends on its mood, not on the hooks.
struct line {
  float slope = 0;
  double offset = 0;
};

inline float error_of(line const& model, float x) {
  return model.slope * x + static_cast<float>(model.offset) - (2.0F * x + 1.0F);
}
inline void descend(line& model, float x, float error) {
  model.slope -= 0.1F * error * x;
  model.offset -= 0.1 * static_cast<double>(error);
}

auto make_graph(step_number steps) {
  return tautline::static_graph{}
      .variable<"model">(line{})
      .source<"x">(0.0F, [points = random_points{1, steps}](float& x) mutable { return points.next(x); })
      .op<"error", "model", "x">([](line const& model, float x) { return error_of(model, x); })
      .op<"loss", "error">([](float error) { return error * error; })
      .update<"train", "model", "x", "error">([](line& model, float x, float error) { descend(model, x, error); });
}

// --- the hooks: five that do nothing in a step, five that work ------------------------------------------------------

template <int Number>
struct idle {
  int made = 0;
  void after_create_session(auto&) { ++made; }
  void end(auto&) { ++made; }
};

struct counter {
  std::int64_t runs = 0;
  void after_run(auto&) { ++runs; }
};
struct running_mean {
  float mean = 0;
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto&, auto& values) { mean += 0.01F * (values[fetch<"loss">] - mean); }
};
inline bool is_finite(float value) { return value - value == 0; }
struct finite_check {
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto& ctx, auto& values) {
    if (!is_finite(values[fetch<"loss">])) ctx.fail(tautline::error_kind::nan, "loss is not finite");
  }
};
struct stop_test {
  step_number last;
  void after_run(auto& ctx) {
    if (ctx.step() >= last) ctx.request_stop("last step");
  }
};
struct sampler {
  tautline::every_steps trigger{1000};
  float sampled = 0;
  auto before_run(auto& ctx) { return ask_if(ctx.due(), fetch<"loss">); }
  void after_run(auto&, auto& values) { sampled += values[fetch<"loss">]; }
};

// --- by hand --------------------------------------------------------------------------------------------------------

/// The same members in the same order as the graph has them.
struct hand {
  line model;
  float x = 0;
  random_points points;
  float error = 0;
  float loss = 0;
  step_number step = 0;
  bool stopped = false;

  [[gnu::noinline]] void run() {
    while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
      if (!points.next(x)) {
        stopped = true;
        break;
      }
      error = error_of(model, x);
      descend(model, x, error);
      ++step;
    }
  }
};

struct hand_working : hand {
  std::int64_t runs = 0;
  float mean = 0;
  step_number last = 0;
  step_number next_sample = 1000;
  float sampled = 0;
  bool failed = false;

  [[gnu::noinline]] void run() {
    while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
      if (!points.next(x)) {
        stopped = true;
        break;
      }
      error = error_of(model, x);
      loss = error * error;
      descend(model, x, error);
      ++step;
      ++runs;
      mean += 0.01F * (loss - mean);
      if (!is_finite(loss)) {
        failed = true;
        break;
      }
      if (step >= last) stopped = true;
      if (step >= next_sample) {
        sampled += loss;
        next_sample = (step / 1000 + 1) * 1000;
      }
    }
  }
};

template <class... Hooks>
[[gnu::noinline]] double with_hooks(step_number steps, Hooks... hooks) {
  auto session = tautline::monitored(make_graph(steps), static_cast<Hooks&&>(hooks)...);
  (void)session.run_to_completion(target<"train">);
  return session.raw()[fetch<"model">].slope;
}

/// Of a session beside its graph, its hooks and its frame.
template <class... Hooks>
constexpr long session_bytes() {
  using graph = decltype(make_graph(0));
  return static_cast<long>(sizeof(tautline::monitored(std::declval<graph>(), std::declval<Hooks>()...)))
         - static_cast<long>(sizeof(graph) + (0 + ... + sizeof(Hooks)) + 256);
}

}  // namespace

// what each variant takes is all that can be reached from its function
extern "C" {
double variant_hand(step_number steps) {
  hand loop;
  loop.points = {1, steps};
  loop.run();
  return loop.model.slope;
}
double variant_hand_working(step_number steps) {
  hand_working loop;
  loop.points = {1, steps + 1};
  loop.last = steps;
  loop.run();
  return loop.model.slope;
}
double variant_none(step_number steps) { return with_hooks(steps); }
double variant_idle(step_number steps) {
  return with_hooks(steps, idle<0>{}, idle<1>{}, idle<2>{}, idle<3>{}, idle<4>{});
}
double variant_working(step_number steps) {
  return with_hooks(steps + 1, counter{}, running_mean{}, finite_check{}, stop_test{steps}, sampler{});
}
}

int main(int count, char** arguments) {
  static constexpr variant all[] = {
      {"hand", variant_hand},
      {"hand_working", variant_hand_working},
      {"none", variant_none, session_bytes<>()},
      {"idle", variant_idle, session_bytes<idle<0>, idle<1>, idle<2>, idle<3>, idle<4>>()},
      {"working", variant_working, session_bytes<counter, running_mean, finite_check, stop_test, sampler>()},
  };
  return run_variants(all, count, arguments);
}
