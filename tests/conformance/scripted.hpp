// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>

#include "stage.hpp"

namespace conformance {

/// A backend that does what its script says. It has no life cycle of its own: it is told when to open, run and close.
class scripted {
 public:
  explicit scripted(world& played) : world_(&played), values_(played.script.values.size(), untouched) {}

  tautline::status open() {
    failure const ordered = failure_at(script().make_failures, ++world_->attempts);
    if (ordered.kind != error_kind::none) return fail(ordered);
    if (world_->sessions > 0 && !script().keeps_state) world_->completed = world_->checkpoint;
    world_->taken = 0;
    world_->trace("session %ld", ++world_->sessions);
    return {};
  }

  void close() {
    world_->trace("session_closed %ld", world_->sessions);
    if (watch != nullptr) watch(watched, *world_);
  }

  [[nodiscard]] step_number initial_step() const { return world_->completed; }
  [[nodiscard]] step_number steps_per_run() const { return script().steps_per_run; }

  [[nodiscard]] step_number global_step() const { return world_->completed + world_->steps_of_others; }

  template <class Request>
  tautline::status run(Request const& request) {
    if constexpr (!Request::is_step) {
      compute(request);
      return {};
    } else {
      ++world_->raw_runs;
      world_->ticks += 10;
      trace_run(request);
      failure const ordered = failure_at(script().run_failures, world_->raw_runs);
      if (ordered.kind != error_kind::none) return fail(ordered);
      if (world_->raw_runs > 10 * script().max_runs + 1000) {
        world_->complain("the loop does not end");
        return {error_kind::internal, "the loop does not end"};
      }
      if (script().input_length >= 0 && world_->taken == script().input_length) return tautline::status::end_of_input();
      ++world_->taken;
      ++world_->good_runs;
      world_->completed += script().steps_per_run;
      compute(request);
      return {};
    }
  }

  template <tautline::fixed_string Name>
  [[nodiscard]] double const& value() const {
    return values_[place_of(tautline::name_of<Name>)];
  }

  /// The variables as they are after the last raw run.
  template <class Visit>
  void each_state(Visit const& visit) {
    variables_.resize(script().variables.size());
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      variables_[i] = world_->raw_runs == 0 ? 0 : script().variables[i].at(world_->raw_runs - 1);
      tautline::state_item item;
      item.owner = script().variables[i].name.c_str();
      item.view = tautline::view_tensor(variables_[i]);
      visit(item);
    }
  }

  [[nodiscard]] world& played() const { return *world_; }

  /// Called when a raw session has been closed, so that the caller's view of the end can be taken also where the
  /// session is closed by its destructor.
  void (*watch)(void const* session, world&) = nullptr;
  void const* watched = nullptr;

 private:
  [[nodiscard]] scenario const& script() const { return world_->script; }

  static tautline::status fail(failure ordered) {
#if TAUTLINE_EXCEPTIONS
    throw_ordered(ordered);
#else
    return {ordered.kind, ordered_text};
#endif
  }

  [[nodiscard]] std::size_t place_of(std::string_view name) const {
    for (std::size_t i = 0; i < script().values.size(); ++i) {
      if (script().values[i].values.name == name) return i;
    }
    std::abort();  // the generator refuses such scenarios
  }

  template <class Request>
  void trace_run(Request const& request) {
    std::string const fetched = joined([&](auto add) { request.each_fetch(add); });
    std::string const fed = joined([&](auto add) { request.each_feed(add); });
    world_->trace("run %ld%s%s%s%s", world_->raw_runs, fetched.empty() ? "" : " fetch=", fetched.c_str(),
                  fed.empty() ? "" : " feed=", fed.c_str());
  }
  /// The names that `each` visits, sorted by bytes; one that is visited twice stands there twice.
  template <class Each>
  static std::string joined(Each each) {
    std::vector<std::string> found;
    each([&]<tautline::fixed_string Name>() { found.emplace_back(tautline::name_of<Name>); });
    std::sort(found.begin(), found.end());
    std::string words;
    for (std::string const& name : found) words += words.empty() ? name : "," + name;
    return words;
  }

  /// Values exist only where they were asked for.
  template <class Request>
  void compute(Request const& request) {
    std::fill(values_.begin(), values_.end(), untouched);
    request.each_fetch([&]<tautline::fixed_string Name>() {
      std::size_t const place = place_of(tautline::name_of<Name>);
      value_script const& value = script().values[place];
      if (value.of_feed.empty()) {
        values_[place] = value.values.at(std::max(world_->raw_runs, 1L) - 1);
      } else {
        values_[place] = value.otherwise;
        request.each_feed([&]<tautline::fixed_string Fed>() {
          if (tautline::name_of<Fed> == value.of_feed) values_[place] = static_cast<double>(*request.template fed<Fed>());
        });
      }
    });
  }

  world* world_;
  std::vector<double> values_;
  std::vector<double> variables_;
};

/// What the players make a session of: the graph of a scenario, and the options with it.
template <class Group>
scripted graph_of(world& played, Group) {
  return scripted(played);
}
template <class Group>
auto options_of(world& played, Group) {
  return settings(played);
}

}  // namespace conformance
