// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstring>

#include <tautline/sessions/tensorflow.hpp>

#include "house.hpp"
#include "stage.hpp"

/// Scenarios are played with a session of TensorFlow: `graph_of` and `options_of` as in scripted.hpp.
namespace conformance {

/// The library's session. This adds nothing to its life but what the scenario's player has to know of it.
template <class Session>
class played_session : public Session {
 public:
  played_session(Session&& session, world& played) : Session(static_cast<Session&&>(session)), world_(&played) {}

  tautline::status open() {
    ++world_->attempts;
    if (tautline::status const made = Session::open(); !made.ok()) return seen(made);
    std::string message;
    TF_Code const begun = begin_making(*world_, this->erase().graph(), this->erase().session(), message);
    return seen(begun == TF_OK ? tautline::status{} : this->erase().failures().set(tautline::tensorflow::kind_of(begun), message));
  }
  tautline::status finish_open(bool restored) {
    if (tautline::status const made = Session::finish_open(restored); !made.ok()) return seen(made);
    is_made_ = true;
    world_->trace("session %ld", ++world_->sessions);
    return {};
  }
  void close() {
    Session::close();
    if (!is_made_) return;  // half made
    is_made_ = false;
    world_->trace("session_closed %ld", world_->sessions);
    if (watch != nullptr) watch(watched, *world_);
  }
  template <class Request>
  tautline::status run(Request const& request) {
    return seen(Session::run(request));
  }
  [[nodiscard]] step_number steps_per_run() const { return world_->script.steps_per_run; }
  [[nodiscard]] step_number global_step() { return Session::global_step() + world_->steps_of_others; }

  void (*watch)(void const* session, world&) = nullptr;
  void const* watched = nullptr;

 private:
  tautline::status seen(tautline::status reported) {
    if (!reported.ok()) {
      mend();
      world_->backend_kind = reported.kind;
      world_->backend_message = reported.message;
    }
    return reported;
  }

  world* world_;
  bool is_made_ = false;
};

template <class Graph>
struct played_graph {
  Graph graph;
  world* played;

  [[nodiscard]] auto finalize() && {
    using session = decltype(static_cast<Graph&&>(graph).finalize());
    return played_session<session>(static_cast<Graph&&>(graph).finalize(), *played);
  }
};

template <class Graph>
auto with_values(Graph graph, tautline::names<>) {
  return graph;
}
template <class Graph, tautline::fixed_string First, tautline::fixed_string... Rest>
auto with_values(Graph graph, tautline::names<First, Rest...>) {
  return with_values(static_cast<Graph&&>(graph).template value<First, double>(), tautline::names<Rest...>{});
}

/// The checkpoint of a scenario: what a saver has kept, or the step from which the first session is resumed.
struct from_checkpoint {
  world* played;

  [[nodiscard]] tautline::restored restore(tautline::training_state const& state) const {
    world& to = *played;
    if (!to.has_checkpoint || (to.sessions > 0 && to.script.keeps_state)) return {};
    state.each([&](tautline::state_item const& item) {
      if (item.group != tautline::state_group::variable) return;
      std::string const name = item.owner;
      if (name == "global_step") {
        put<std::int64_t>(item, to.checkpoint);
      } else if (name == "play/raw_run") {
        put<std::int64_t>(item, to.raw_runs);
      } else if (name == "play/attempt") {
        put<std::int64_t>(item, to.attempts);
      } else {
        put<double>(item, to.saved_value(name));
      }
    });
    return {{}, true, to.checkpoint};
  }

 private:
  template <class Number>
  static void put(tautline::state_item const& item, Number value) {
    std::memcpy(item.view.data, &value, sizeof value);
  }
};

/// That of the play in progress: the options of a session only refer to it.
inline from_checkpoint checkpoint_of_the_play{};

/// A function that makes feeds has state that no checkpoint could list: no restorer there, the graph begins at the step.
template <class Group>
auto graph_of(world& played, Group) {
  tautline::tensorflow::session_settings settings;
  scene where = set_the_scene(played, settings.target);
  if (Group::feeds_by_function) where.first_step = played.script.initial_step;
  settings.scaffold.local_init_op = "play/local_init";
  tautline::tensorflow_graph<> graph;
  draw(graph.handle(), played.script, where);
  auto declared = with_values(std::move(graph).settings(std::move(settings)).template step_target<"train">(), typename Group::fetches{});
  return played_graph<decltype(declared)>{std::move(declared), &played};
}
template <class Group>
auto options_of(world& played, Group) {
  auto const most = tautline::max_recoveries{static_cast<std::uint8_t>(std::min(played.script.max_recoveries, 255))};
  if constexpr (Group::feeds_by_function) {
    return settings(played);
  } else {
    checkpoint_of_the_play.played = &played;
    return tautline::options{tautline::with_clock{run_clock{&played}}, tautline::longest_step{10}, most,
                             tautline::frame_bytes<1024>{}, tautline::restore_from{checkpoint_of_the_play}};
  }
}

}  // namespace conformance
