// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tautline/core.hpp>
#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/io/two_slot_checkpoints.hpp>
#include <tautline/sessions/static_graph.hpp>
#include <tautline/testing/memory_store.hpp>

#include "flash.hpp"

// Trainings that are saved in a flash: one of a session, and ones by hand.

namespace io_test {

using namespace tautline;
using testing::snapshot;

/// Numbers that no other step has.
struct numbers {
  std::uint32_t position = 0;
  bool operator()(float& x) {
    position = position * 1664525U + 1013904223U;
    x = static_cast<float>(position >> 8) / 16777216.0F;
    return true;
  }
  auto state() { return fields{field<"position">(position)}; }
};

/// A hook with a state, one field of which stays when a training goes back.
struct mean_of {
  double mean = 0;
  bool seen = false;
  int times = 0;
  auto state() { return fields{field<"mean">(mean), field<"seen">(seen), kept_field<"times">(times)}; }
  void begin(auto&) { mean = 0, seen = false, times = 0; }
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto&, auto& values) {
    mean = 0.9 * mean + 0.1 * static_cast<double>(values[fetch<"loss">]);
    seen = true;
  }
};

using weights = std::array<float, 5>;
inline constexpr step_number end_of_training = 14;

inline auto model() {
  return static_graph{}
      .variable<"w">(weights{})
      .variable<"count">(std::int64_t{0})
      .source<"x">(0.0F, numbers{})
      .op<"loss", "w", "x">([](weights const& w, float x) { return (w[0] - x) * (w[0] - x); })
      .update<"train", "w", "x">([](weights& w, float x) {
        for (std::size_t i = 0; i < w.size(); ++i) w[i] += (x - w[i]) / static_cast<float>(i + 3);
      });
}

/// One life of a device: a session that is restored, given to `act`, and closed.
template <class Store, class Act>
void with_session(Store& store, Act act) {
  auto graph = model();
  checkpoint_saver saver{store, every_steps{3} | at_end};
  auto session = try_monitored(graph, options{restore_from{store}}, mean_of{}, std::move(saver));
  act(session);
  (void)session.try_close();
}
template <class Session>
void train_to(Session& session, step_number last) {
  while (session.is_open() && session.completed_steps() < last && session.try_run(target<"train">)) continue;
}
/// Trains up to a step; what is there when it has got there.
template <class Store>
snapshot trained(Store& store, step_number last = end_of_training) {
  snapshot made;
  with_session(store, [&](auto& session) {
    train_to(session, last);
    CHECK(session.completed_steps() == last);
    made = snapshot(session.raw().state());
  });
  return made;
}

/// The state of an undisturbed training behind each of its steps.
inline std::map<step_number, snapshot> const& undisturbed() {
  static std::map<step_number, snapshot> const made = [] {
    std::map<step_number, snapshot> steps;
    testing::memory_store nowhere;
    auto graph = model();
    flash<4096, 4> region(2);
    two_slot_checkpoints store(region);
    checkpoint_saver saver{store, every_steps{3} | at_end};
    auto session = try_monitored(graph, options{restore_from{nowhere}}, mean_of{}, std::move(saver));
    for (step_number step = 0; step <= end_of_training; ++step) {
      train_to(session, step);
      steps[step] = snapshot(session.raw().state());
    }
    return steps;
  }();
  return made;
}

/// What a restore puts into a new session, "" if it is what the training was at that step.
template <class Store>
std::string found(Store& store, step_number& step) {
  std::string problem;
  auto graph = model();
  auto session = try_monitored(graph, options{restore_from{store}}, mean_of{}, checkpoint_saver{store, never});
  if (!session.is_open()) return session.status().message.words();
  step = session.completed_steps();
  snapshot const now(session.raw().state());
  for (auto const& item : undisturbed().at(step).items()) {
    auto const* const here = now.find(item.name);
    bool const triggers = item.name.find(trigger_field) != std::string::npos;
    if (!triggers && (here == nullptr || here->bytes != item.bytes)) problem += item.name + ' ';
  }
  return problem;
}

/// A training's state by hand.
struct by_hand {
  std::vector<state_item> items;
  step_number step = 1;
  bool running = false;

  template <class Value>
  by_hand& add(state_group group, char const* owner, char const* name, Value& value, bool kept = false) {
    state_item item;
    item.group = group, item.owner = owner, item.field = name, item.kept = kept;
    item.view = view_tensor(value);
    item.object = &value;
    items.push_back(item);
    return *this;
  }
  [[nodiscard]] training_state state() {
    static constexpr training_state::functions how{
        [](void* core, void* visitor, training_state::item_visit visit) {
          for (state_item const& item : static_cast<by_hand*>(core)->items) visit(visitor, item);
        },
        [](void*, void*, training_state::node_visit) {}};
    return {this, how, step, running};
  }
};

/// Two values that say which saving they are of.
struct pair {
  std::array<float, 3> w{};
  std::int32_t n = 0;
  by_hand view{};
  pair() {
    view.add(state_group::variable, "w", "", w).add(state_group::hook, "counter", "n", n);
  }
  pair(pair const&) = delete;
  pair& operator=(pair const&) = delete;
  training_state at(int number) {
    w.fill(static_cast<float>(number));
    n = number;
    view.step = number;
    return view.state();
  }
  [[nodiscard]] bool is_of(int number) const {
    return n == number && std::count(w.begin(), w.end(), static_cast<float>(number)) == std::ssize(w);
  }
};

inline constexpr cut all_cuts[]{cut::before, cut::after, cut::half, cut::weak, cut::garbage};

/// A small flash, and the savings 1, 2 … of a training in it.
struct small_flash {
  flash<256, 8> region{2};
  two_slot_checkpoints<flash<256, 8>> store{region};
  pair training{};

  explicit small_flash(int savings) {
    for (int i = 1; i <= savings; ++i) REQUIRE(store.save(training.at(i)).ok());
  }
  small_flash(small_flash const&) = delete;
  small_flash& operator=(small_flash const&) = delete;
};

/// Kind and message.
inline std::string said(status const& result) { return std::string(to_string(result.kind)) + ": " + result.message; }

}  // namespace io_test
