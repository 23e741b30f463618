// SPDX-License-Identifier: BSL-1.0
// Instructions a step: a run that a gate looks at before its update, and a session with a saver that has nothing to save.
//
// bound: gate <= 1.05 * hand_gate
// bound: idle_saver <= 1.05 * hand_saver
//
// The saver's reference has a flag that is looked at once a step: nobody can save at some steps for less. A saver with a
// trigger, and no saver at all:
//
// show: timed_saver
// show: hand_timed_saver
// show: hand
// show: none

#include <cstdint>
#include <cstdio>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "line_fit.hpp"
#include "variants.hpp"

namespace {

using tautline::fetch;
using tautline::field;
using tautline::fields;
using tautline::step_number;
using tautline::target;

// --- the session: its source has a state, so that it can be saved ------------------------------------------------------

struct points_source : random_points {
  bool operator()(float& x) { return next(x); }
  auto state() { return fields{field<"random">(random_points::state), field<"left">(left)}; }
};

auto make_saved_graph(step_number steps) {
  return make_graph_over(points_source{{1, steps}});
}

// --- the hooks ----------------------------------------------------------------------------------------------------------

struct finite_gate {
  std::int64_t vetoes = 0;
  auto before_run(auto&) { return fetch<"loss">; }
  void gate(auto& ctx, auto& values) {
    if (!is_finite(values[fetch<"loss">])) {
      ctx.veto();
      ++vetoes;
    }
  }
};
/// Wants to save when somebody has told it to.
struct idle_saver {
  using category = tautline::saver;
  static constexpr bool stateless = true;
  bool wanted = false;
  void begin(auto&) { wanted = false; }
  [[nodiscard]] bool wants_save() const { return wanted; }
  void save(tautline::training_state const& state, tautline::life&) {
    wanted = false;
    std::printf("saved %d\n", static_cast<int>(state.step()));
  }
};
/// Decides by a trigger, as checkpoint savers do.
struct timed_saver : idle_saver {
  tautline::every_steps trigger{10'000'000};
  void after_run(auto& ctx) { wanted = ctx.due(); }
};

// --- by hand --------------------------------------------------------------------------------------------------------

struct hand_gate : hand {
  std::int64_t vetoes = 0;
  bool vetoed = false;

  [[gnu::noinline]] void run() {
    while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
      if (!points.next(x)) {
        stopped = true;
        break;
      }
      error = error_of(model, x);
      loss = error * error;
      vetoed = !is_finite(loss);
      if (vetoed) {
        ++vetoes;
      } else {
        descend(model, x, error);
      }
      ++step;
    }
  }
};

struct hand_saver : hand {
  bool wanted = false;

  [[gnu::noinline, gnu::cold]] void save() {
    wanted = false;
    std::printf("saved %d\n", static_cast<int>(step));
  }
  [[gnu::noinline]] void run() {
    while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
      if (!points.next(x)) {
        stopped = true;
        break;
      }
      error = error_of(model, x);
      descend(model, x, error);
      ++step;
      if (wanted) [[unlikely]] save();
    }
  }
};
struct hand_timed_saver : hand_saver {
  step_number next = 10'000'000;

  [[gnu::noinline]] void run() {
    while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
      if (!points.next(x)) {
        stopped = true;
        break;
      }
      error = error_of(model, x);
      descend(model, x, error);
      ++step;
      wanted = step >= next;
      if (step >= next) [[unlikely]] next = (step / 10'000'000 + 1) * 10'000'000;
      if (wanted) [[unlikely]] save();
    }
  }
};

template <class... Hooks>
[[gnu::noinline]] double with_hooks(step_number steps, Hooks... hooks) {
  auto session = tautline::monitored(make_saved_graph(steps), static_cast<Hooks&&>(hooks)...);
  (void)session.run_to_completion(target<"train">);
  return session.raw()[fetch<"model">].slope;
}

template <class Loop>
double by_hand(step_number steps) {
  Loop loop;
  loop.points = {1, steps};
  loop.run();
  return loop.model.slope;
}

variant const all[] = {
    {"hand", by_hand<hand>},
    {"hand_gate", by_hand<hand_gate>},
    {"hand_saver", by_hand<hand_saver>},
    {"hand_timed_saver", by_hand<hand_timed_saver>},
    {"none", [](step_number steps) { return with_hooks(steps); }},
    {"gate", [](step_number steps) { return with_hooks(steps, finite_gate{}); }},
    {"idle_saver", [](step_number steps) { return with_hooks(steps, idle_saver{}); }},
    {"timed_saver", [](step_number steps) { return with_hooks(steps, timed_saver{}); }},
};

}  // namespace

int main(int count, char** arguments) { return run_variants(all, count, arguments); }
