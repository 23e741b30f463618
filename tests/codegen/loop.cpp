// SPDX-License-Identifier: BSL-1.0
// Instructions a step, against the loop written by hand with its state in an object that outlives it. A bound of 1.001
// means the same: what a sampler does every 1000 steps, and what ends the loop, is not the same to the instruction.
//
// bound: none <= 1.001 * hand
// bound: idle <= 1.001 * hand
// bound: idle_in_step <= 1.001 * hand
// bound: working <= 1.02 * hand_working
//
// Four and thirteen times the five, all of the same values. By hand g++ sees that a value which was finite is finite, and
// asks whether a sample is due where it takes it; in a session this is known before the run, and kept in a register.
//
// bound on g++ -O2: working_20 <= 1.2 * hand_working_20
// bound on g++ -O3: working_20 <= 1.2 * hand_working_20
// bound on clang++-19 -O2: working_20 <= 1.02 * hand_working_20
// bound on g++ -O2: working_64 <= 1.32 * hand_working_64
// bound on g++ -O3: working_64 <= 1.32 * hand_working_64
// bound on clang++-19 -O2: working_64 <= 1.02 * hand_working_64
//
// Hooks that act every 1000 steps, and nothing else. By hand each is one comparison; a session makes one for all.
//
// bound: triggered <= 1.02 * hand_triggered
// bound: triggered_64 <= 0.33 * hand_triggered_64
//
// and what else can be counted: hooks that do nothing leave no call, no jump through a pointer and no locked instruction in
// the loop, those that work neither; nothing is allocated; code and constants, of all that can be reached from a variant
//
// bound: calls(idle) <= 0
// bound: indirect_jumps(idle) <= 0
// bound: locks(idle) <= 0
// bound: calls(working) <= 0
// bound: calls(working_64) <= 0
// bound: indirect_jumps(working) <= 0
// bound: locks(working) <= 0
// bound: allocations(none) <= 0
// bound: allocations(idle) <= 0
// bound: allocations(working) <= 0
// bound: session_bytes(none) <= 128
// bound: session_bytes(idle) <= 128
// bound: session_bytes(working) <= 160
// bound: bytes(none) <= 1 * bytes(hand) + 10500
// bound: bytes(idle) <= 1 * bytes(none) + 500
// bound: bytes(working) <= 1 * bytes(none) + 1700
// show: bytes(hand_working)

#include <cstdint>
#include <utility>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "line_fit.hpp"
#include "variants.hpp"

namespace {

using tautline::fetch;
using tautline::step_number;
using tautline::target;

// --- the hooks: five that do nothing in a step, five that work ------------------------------------------------------

template <int Number>
struct idle {
  int made = 0;
  void after_create_session(auto&) { ++made; }
  void end(auto&) { ++made; }
};

template <int Number>
struct idle_in_step {
  void before_run(auto&) {}
  void after_run(auto&) {}
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

/// The work of more hooks, the five kinds in turn.
template <std::size_t Count>
struct hand_many : hand {
  struct five {
    std::int64_t runs = 0;
    float mean = 0;
    step_number last = 0;
    step_number next_sample = 1000;
    float sampled = 0;
  };
  five of[(Count + 4) / 5];
  bool failed = false;

  template <std::size_t Index>
  [[gnu::always_inline]] inline bool work() {
    five& own = of[Index / 5];
    if constexpr (Index % 5 == 0) ++own.runs;
    if constexpr (Index % 5 == 1) own.mean += 0.01F * (loss - own.mean);
    if constexpr (Index % 5 == 2) {
      if (!is_finite(loss)) {
        failed = true;
        return false;
      }
    }
    if constexpr (Index % 5 == 3) {
      if (step >= own.last) stopped = true;
    }
    if constexpr (Index % 5 == 4) {
      if (step >= own.next_sample) {
        own.sampled += loss;
        own.next_sample = (step / 1000 + 1) * 1000;
      }
    }
    return true;
  }
  template <std::size_t... Index>
  [[gnu::noinline]] void run(std::index_sequence<Index...>) {
    while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
      if (!points.next(x)) {
        stopped = true;
        break;
      }
      error = error_of(model, x);
      loss = error * error;
      descend(model, x, error);
      ++step;
      if (!(true && ... && work<Index>())) break;
    }
  }
};

/// Samplers alone: the loss is computed when one takes it.
template <std::size_t Count>
struct hand_triggered : hand {
  struct sample {
    step_number next = 1000;
    float sum = 0;
  };
  sample of[Count];

  template <std::size_t Index>
  [[gnu::always_inline]] inline void take() {
    if (__builtin_expect(step >= of[Index].next, 0) != 0) {
      of[Index].sum += error * error;
      of[Index].next = (step / 1000 + 1) * 1000;
    }
  }
  template <std::size_t... Index>
  [[gnu::noinline]] void run(std::index_sequence<Index...>) {
    while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
      if (!points.next(x)) {
        stopped = true;
        break;
      }
      error = error_of(model, x);
      descend(model, x, error);
      ++step;
      (take<Index>(), ...);
    }
  }
};

template <class... Hooks>
[[gnu::noinline]] double with_hooks(step_number steps, Hooks... hooks) {
  auto session = tautline::monitored(make_graph(steps), static_cast<Hooks&&>(hooks)...);
  (void)session.run_to_completion(target<"train">);
  return session.raw()[fetch<"model">].slope;
}

template <std::size_t Index>
auto working_hook(step_number steps) {
  if constexpr (Index % 5 == 0) return counter{};
  if constexpr (Index % 5 == 1) return running_mean{};
  if constexpr (Index % 5 == 2) return finite_check{};
  if constexpr (Index % 5 == 3) return stop_test{steps};
  if constexpr (Index % 5 == 4) return sampler{};
}
template <std::size_t... Index>
double with_many(step_number steps, std::index_sequence<Index...>) {
  return with_hooks(steps + 1, working_hook<Index>(steps)...);
}
template <std::size_t Count>
double by_hand(step_number steps) {
  hand_many<Count> loop;
  loop.points = {1, steps + 1};
  for (auto& five : loop.of) five.last = steps;
  loop.run(std::make_index_sequence<Count>{});
  return loop.model.slope;
}

template <std::size_t... Index>
double with_samplers(step_number steps, std::index_sequence<Index...>) {
  return with_hooks(steps, (void(Index), sampler{})...);
}
template <std::size_t Count>
double samplers_by_hand(step_number steps) {
  hand_triggered<Count> loop;
  loop.points = {1, steps};
  loop.run(std::make_index_sequence<Count>{});
  return loop.model.slope;
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
double variant_idle_in_step(step_number steps) {
  return with_hooks(steps, idle_in_step<0>{}, idle_in_step<1>{}, idle_in_step<2>{}, idle_in_step<3>{}, idle_in_step<4>{});
}
double variant_working(step_number steps) {
  return with_hooks(steps + 1, counter{}, running_mean{}, finite_check{}, stop_test{steps}, sampler{});
}
double variant_hand_working_20(step_number steps) { return by_hand<20>(steps); }
double variant_hand_working_64(step_number steps) { return by_hand<64>(steps); }
double variant_working_20(step_number steps) { return with_many(steps, std::make_index_sequence<20>{}); }
double variant_hand_triggered(step_number steps) { return samplers_by_hand<5>(steps); }
double variant_hand_triggered_64(step_number steps) { return samplers_by_hand<64>(steps); }
double variant_triggered(step_number steps) { return with_samplers(steps, std::make_index_sequence<5>{}); }
double variant_triggered_64(step_number steps) { return with_samplers(steps, std::make_index_sequence<64>{}); }
double variant_working_64(step_number steps) { return with_many(steps, std::make_index_sequence<64>{}); }
}

int main(int count, char** arguments) {
  static constexpr variant all[] = {
      {"hand", variant_hand},
      {"hand_working", variant_hand_working},
      {"none", variant_none, session_bytes<>()},
      {"idle", variant_idle, session_bytes<idle<0>, idle<1>, idle<2>, idle<3>, idle<4>>()},
      {"idle_in_step", variant_idle_in_step},
      {"hand_working_20", variant_hand_working_20},
      {"hand_working_64", variant_hand_working_64},
      {"working_20", variant_working_20},
      {"working_64", variant_working_64},
      {"hand_triggered", variant_hand_triggered},
      {"hand_triggered_64", variant_hand_triggered_64},
      {"triggered", variant_triggered},
      {"triggered_64", variant_triggered_64},
      {"working", variant_working, session_bytes<counter, running_mean, finite_check, stop_test, sampler>()},
  };
  return run_variants(all, count, arguments);
}
