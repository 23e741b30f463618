// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "probe.hpp"

/// The program that every scenario is: make the session, drive it, do what comes after, close. Only the caller's part
/// stands here; what happens in between is the library's.
namespace conformance {

/// @tparam Group what is known of the scenario at compile time. The backend's header has `graph_of` and `options_of`.
template <bool Throw, class Group, class... Hooks>
auto made(world& played, Hooks&&... hooks) {
  if constexpr (Throw) {
    return tautline::monitored(graph_of(played, Group{}), options_of(played, Group{}), static_cast<Hooks&&>(hooks)...);
  } else {
    return tautline::try_monitored(graph_of(played, Group{}), options_of(played, Group{}), static_cast<Hooks&&>(hooks)...);
  }
}

/// How one thing that the caller did went. With exceptions an error is thrown instead, until somebody catches it.
struct result {
  error_kind failed = error_kind::none;
  bool ended = false;      ///< a run reported the end of the input
  bool by_caller = false;  ///< the error is the caller's own
};

template <class Session>
void look_at(Session const& session, world& played) {
  tautline::stop_record const stop = session.stop();
  played.stop_by = stop ? stop.by : "";
  played.stop_has_step = stop.has_step;
  played.stop_step = stop.step;
  played.errors.clear();
  auto const attached = session.attached_errors();
  tautline::error const first = session.status();
  played.errors_in_all = first ? attached.count() + 1 : 0;
  if (first) played.errors.emplace_back(tautline::to_string(first.kind));
  for (int i = 0; i < attached.size(); ++i) played.errors.emplace_back(tautline::to_string(attached[i].kind));
  if (first && !stop && session.should_stop() != !session.is_open()) played.complain("should_stop and is_open disagree");
}

#if TAUTLINE_EXCEPTIONS

/// The name of the kind of the exception in flight; its message goes to the world.
inline std::string kind_in_flight(world* played = nullptr) {
  std::string kind = "error";
  std::string message = "of a foreign type";
  bool replaced = true;
  try {
    throw;
  } catch (tautline::exception const& known) {
    kind = tautline::to_string(known.kind());
    if (dynamic_cast<derived_end_of_input const*>(&known) != nullptr) kind = "out_of_range_derived";
    message = known.what();
    bool const own = known.kind() == error_kind::nan || known.kind() == error_kind::feed_conflict ||
                     known.kind() == error_kind::run_after_stop;
    bool const of_status = played != nullptr && played->is_status_of_backend(known.kind(), message);
    replaced = !own && !of_status && dynamic_cast<ordered const*>(&known) == nullptr;
  } catch (std::exception const& foreign) {
    message = foreign.what();
    replaced = dynamic_cast<ordered const*>(&foreign) == nullptr;
  }
  if (played != nullptr) {
    played->message = message;
    if (replaced) played->complain("the exception that reached the caller (%s) is not the one that was thrown", kind.c_str());
  }
  return kind;
}

#endif

template <class Group>
class player {
 public:
  static void play(world& played, way how) { player(played, how).play(); }

 private:
  player(world& played, way how) : world_(played), script_(played.script), way_(how) {}

  world& world_;
  scenario const& script_;
  way way_;

#if TAUTLINE_EXCEPTIONS

  /// Looks at the session before its destructor begins; what that one does the backend's `close` still shows.
  template <class Session>
  struct observer {
    Session& session;
    world& played;
    observer(Session& watched, world& looking) : session(watched), played(looking) {
      session.raw().backend().watched = &session;
      session.raw().backend().watch = [](void const* closed, world& at) {
        look_at(*static_cast<Session const*>(closed), at);
      };
    }
    observer(observer const&) = delete;
    observer& operator=(observer const&) = delete;
    ~observer() { look_at(session, played); }
  };

  void play() {
    bool made = false;
    try {
      auto session = Group::template make<true>(world_);
      made = true;
      observer const watching(session, world_);
      try {
        (void)drive(session);
      } catch (caller_error const&) {
        world_.outcome_is_of_session = false;
        world_.outcome = tautline::to_string(caller_raises_.kind);
        if (!script_.catches) throw;
      } catch (...) {
        world_.outcome = kind_in_flight(&world_);
        world_.outcome_is_of_session = world_.outcome != "run_after_stop";
        if (!script_.catches) throw;
      }
      for (plan_item const& item : script_.after) {
        std::string words;
        try {
          words = shown(item, do_item(session, item));
        } catch (caller_error const&) {
          words = tautline::to_string(item.raises.kind);
        } catch (...) {
          words = kind_in_flight();
        }
        world_.trace("caller %s -> %s", item.words.c_str(), words.c_str());
      }
      try {
        session.close();
      } catch (...) {
        world_.outcome = kind_in_flight(&world_);
        world_.outcome_is_of_session = true;
        throw;
      }
    } catch (...) {
      if (!made) {
        world_.outcome = kind_in_flight(&world_);
        look_at_the_unmade();
      }
    }
  }

  /// A session whose making throws cannot be looked at. `try_monitored` makes the same one without throwing: the same
  /// must happen there, and it can be asked.
  void look_at_the_unmade() {
    world again(script_);
    auto const session = Group::template make<false>(again);
    if (session.is_open()) world_.complain("monitored throws where try_monitored gives an open session");
    if (again.lines != world_.lines) world_.complain("monitored and try_monitored do not do the same");
    look_at(session, world_);
    for (std::string const& words : again.complaints) world_.complain("%s", words.c_str());
  }

  /// What the caller's own code throws: of a type that the library does not know.
  struct caller_error {};
  failure caller_raises_;
  result raise(failure what) {
    caller_raises_ = what;
    throw caller_error();
  }

#else

  void play() {
    auto session = Group::template make<true>(world_);
    if (session.status()) {
      take_outcome(session, session.status().kind);
    } else {
      result const done = drive(session);
      if (done.failed != error_kind::none) {
        take_outcome(session, done.failed);
        world_.outcome_is_of_session = !done.by_caller && done.failed != error_kind::run_after_stop;
      }
      if (done.failed == error_kind::none || script_.catches) {
        for (plan_item const& item : script_.after) {
          std::string const words = shown(item, do_item(session, item));
          world_.trace("caller %s -> %s", item.words.c_str(), words.c_str());
        }
        if (tautline::error const closing = session.try_close()) {
          take_outcome(session, closing.kind);
          world_.outcome_is_of_session = true;
        }
      } else if (done.by_caller && !session.stop()) {
        session.abandon();  // what unwinding does, unless a stop has been recorded before
      } else {
        (void)session.try_close();
      }
    }
    look_at(session, world_);
  }

  template <class Session>
  void take_outcome(Session const& session, error_kind kind) {
    world_.outcome = tautline::to_string(kind);
    char words[400];
    session.status().write_to(words, sizeof words);
    world_.message = words;
  }

  static result raise(failure what) { return {what.kind, false, true}; }

#endif

  // --- the drives -------------------------------------------------------------------------------------------------

  template <class Session>
  result drive(Session& session) {
    switch (script_.drive) {
      case drive_kind::loop:
        if constexpr (Group::loops) {
          switch (way_) {
            case way::run: return loop(session);
            case way::run_to_completion: return completion(session);
            case way::steps: return steps(session);
            case way::run_for: return slices(session);
          }
        }
        break;
      case drive_kind::loop_no_check:
        for (long runs = 0; runs < script_.max_runs; ++runs) {
          result const done = run(session);
          if (done.ended || done.failed != error_kind::none) return done;
        }
        world_.outcome = "max_runs";
        return {};
      case drive_kind::runs:
        for (long runs = 0; runs < script_.runs; ++runs) {
          result const done = run(session);
          if (done.failed != error_kind::none) return done;
        }
        return {};
      case drive_kind::plan:
        for (plan_item const& item : script_.plan) {
          result const done = do_item(session, item);
          if (done.failed != error_kind::none) return done;
        }
        return {};
    }
    std::abort();
  }

  template <class Session>
  result loop(Session& session) {
    for (long runs = 0; !session.should_stop(); ++runs) {
      if (runs == script_.max_runs) {
        world_.outcome = "max_runs";
        break;
      }
      result const done = run(session);
      if (done.failed != error_kind::none) return done;
    }
    return {};
  }

  template <class Session>
  result completion(Session& session) {
    return Group::with_items(world_, [&](auto const&... items) {
      tautline::completion const done = script_.leaves_the_loop ? session.run_steps(script_.max_runs, items...)
                                                                : session.run_to_completion(items...);
      return drove(session, done);
    });
  }

  template <class Session>
  result slices(Session& session) {
    return Group::with_items(world_, [&](auto const&... items) {
      while (!session.should_stop()) {
        long const left = script_.max_runs - world_.good_runs;
        if (left <= 0) break;
        // two runs, as long as the last of them is one that the caller still wants
        result const done = drove(session, session.run_for(left >= 2 ? 20U : 10U, items...));
        if (done.failed != error_kind::none) return done;
      }
      return result{};
    });
  }
  template <class Session>
  result drove(Session& session, tautline::completion const& done) {
    if (std::string_view(done.stop.by) != session.stop().by) world_.complain("the completion names another stop");
    if (done.steps != session.completed_steps()) world_.complain("the completion counts other steps");
    if (done && !session.should_stop() && world_.good_runs >= script_.max_runs) world_.outcome = "max_runs";
    return {done.error};
  }

  template <class Session>
  result steps(Session& session) {
    return Group::with_items(world_, [&](auto const&... items) {
      long runs = 0;
      if (script_.max_runs == 0) {
        if (!session.should_stop()) world_.outcome = "max_runs";
        return result{};
      }
      for (auto const& step : session.steps(items...)) {
        check_values(step, typename Group::caller_fetches{});
        if (step.step() != session.completed_steps()) world_.complain("steps() shows another step");
        if (++runs == script_.max_runs) {
          if (!session.should_stop()) world_.outcome = "max_runs";
          break;
        }
      }
      return result{session.status().kind};
    });
  }

  // --- what the caller does ---------------------------------------------------------------------------------------

  template <class Session>
  result do_item(Session& session, plan_item const& item) {
    switch (item.does) {
      case act::run: return run(session);
      case act::run_without_hooks:
        if constexpr (Group::runs_without_hooks) {
          return told(Group::with_items(world_, [&](auto const&... items) { return session.run_without_hooks(items...); }));
        }
        std::abort();
      case act::run_with: return run_with<0>(session, item.chosen);
      case act::request_stop: session.request_stop("ordered by the scenario"); return {};
      case act::should_stop: should_stop_ = session.should_stop(); return {};
      case act::close:
#if TAUTLINE_EXCEPTIONS
        session.close();
        return {};
#else
        return {session.try_close().kind};
#endif
      case act::raise: return raise(item.raises);
    }
    std::abort();
  }
  std::string shown(plan_item const& item, result done) const {
    if (done.failed != error_kind::none) return tautline::to_string(done.failed);
    if (item.does == act::should_stop) return should_stop_ ? "true" : "false";
    return done.ended ? "end_of_input" : "ok";
  }

  template <class Session>
  result run(Session& session) {
    return told(Group::with_items(world_, [&](auto const&... items) { return session.run(items...); }));
  }
  template <int Chosen, class Session>
  result run_with(Session& session, int chosen) {
    if constexpr (Chosen < Group::choices) {
      if (chosen == Chosen) {
        return told(Group::with_items(
            world_, [&](auto const&... items) { return Group::template run_with<Chosen>(session, items...); }));
      }
      return run_with<Chosen + 1>(session, chosen);
    } else {
      std::abort();
    }
  }

  template <class Result>
  result told(Result const& run) {
    if (run) check_values(run, typename Group::caller_fetches{});
    if (bool(run) + run.end_of_input() + (run.error() != error_kind::none) != 1) world_.complain("the result of a run is unclear");
    return {run.error(), run.end_of_input()};
  }
  /// The caller gets what it asked for.
  template <class Run, tautline::fixed_string... Names>
  void check_values(Run const& run, tautline::names<Names...>) {
    (check_value(tautline::name_of<Names>, run[tautline::fetch<Names>]), ...);
  }
  void check_value(char const* name, double value) {
    for (value_script const& one : script_.values) {
      if (one.values.name != name || !one.of_feed.empty()) continue;
      double const wanted = one.values.at(world_.raw_runs - 1);
      if (!(value == wanted || (std::isnan(value) && std::isnan(wanted)))) {
        world_.complain("the caller got %s=%g instead of %g", name, value, wanted);
      }
    }
  }

  bool should_stop_ = false;
};

}  // namespace conformance
