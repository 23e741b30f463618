// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/testing/laws.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <tautline/testing/law_report.hpp>
#include <tautline/testing/laws/subject.hpp>

TAUTLINE_BEGIN
namespace testing {

/// A law that a hook cannot keep by its nature, and why: it stands in the report.
struct law_exception {
  law which;
  std::string reason;
};

/// How the laws are tried. @see check_laws
struct law_options {
  std::string name{};  ///< in the report; the hook's type by default
  /// The values of the training, by element of the input. Other names have the value 0.5.
  std::map<std::string, scripted_value, std::less<>> values{{"loss", [](long at) { return 1.0 / static_cast<double>(at); }}};
  std::vector<law_exception> except{};
  long runs = 12;                         ///< of a whole training
  std::function<void(script&)> prepare{};  ///< changes each script further
  bool no_heap = false;                   ///< no step may use the heap, though the hook does not declare `real_time`
};

namespace detail {

/// How a training, or a part of one, went.
struct played {
  bool opened = false;
  long runs = 0;            ///< that took place
  snapshot state;           ///< before it was closed
  step_number steps = 0;
  std::string end;          ///< how it ended: "open", a stop, an error
  std::string said_before;  ///< output until it was closed
  std::string said;
  std::string files;  ///< what they hold in the end
};

enum class closing : std::uint8_t { in_order, killed };

inline std::string end_of(live_session const& session) {
  if (session.status()) return "error: " + in_words(session.status());
  if (session.stop()) return "stop: " + in_words(session.stop());
  return session.is_open() ? "open" : "closed";
}

inline void prepare(law_world& world, law_options const& given) {
  world.plan.values = given.values;
  world.plan.by_position = true;
  world.plan.learns = true;
  world.keeper.store = &world.store;
  if (given.prepare) given.prepare(world.plan);
}

/// Runs a training until it stops, or for so many runs, and closes it.
inline played play(subject const& of, law_world& world, hook_box& hooks, long runs, closing how = closing::in_order) {
  world.keeper.begin_counting(of.has_close.size());
  played done;
  auto const session = of.make_session(world, hooks);
  done.opened = session->is_open() || session->stop();
  while (session->is_open() && !session->should_stop() && done.runs < runs) {
    if (session->run()) ++done.runs;
  }
  if (done.opened) done.state = snapshot(session->state());
  done.end = end_of(*session);
  done.said_before = world.out.text();
  if (how == closing::in_order) {
    session->close();
    if (session->status()) done.end = end_of(*session);
  } else {
    session->abandon();
  }
  done.steps = session->completed();
  done.said = world.out.text();
  done.files = world.out.files();
  return done;
}

/// The whole training, with everything new.
inline played play_fresh(subject const& of, law_options const& given, long runs) {
  law_world world;
  prepare(world, given);
  auto const hooks = of.make_hooks(world.out);
  return play(of, world, *hooks, runs);
}

/// The first line in which two texts differ.
inline std::string first_difference(std::string const& one, std::string const& other) {
  if (one == other) return {};
  std::size_t at = 0;
  while (at < one.size() && at < other.size() && one[at] == other[at]) ++at;
  std::size_t const from = at == 0 ? std::string::npos : one.rfind('\n', at - 1);
  std::size_t const begin = from == std::string::npos ? 0 : from + 1;
  auto const line = [&](std::string const& of) {
    return begin < of.size() ? "\"" + of.substr(begin, of.find('\n', begin) - begin) + "\"" : std::string("nothing");
  };
  return line(one) + " and " + line(other) + "\n";
}

inline std::string compare(std::string const& what, std::string const& difference) {
  return difference.empty() ? std::string() : what + ": " + difference;
}

/// What a law came to.
struct outcome_of_law {
  std::string problem;       ///< empty: it holds
  std::string not_looked_at{};  ///< why not
};

/// Whether the callbacks of the hooks came in good order. @param ends how often `end` may have been called at most
inline std::string check_calls(subject const& of, law_world const& world, long ends) {
  std::string problem;
  auto const& counts = world.keeper.counts();
  for (std::size_t place = 0; place < counts.size(); ++place) {
    callback_counts const& seen = counts[place];
    auto const entered = [&](callback where) { return seen.entered[static_cast<std::size_t>(where)]; };
    if (seen.entered != seen.left) problem += "a callback was entered and not left\n";
    if (of.has_close[place] && entered(callback::close) != 1) {
      problem += "close was called " + std::to_string(entered(callback::close)) + " times\n";
    }
    if (entered(callback::end) > ends) problem += "end was called " + std::to_string(entered(callback::end)) + " times\n";
  }
  return problem;
}

}  // namespace detail
}  // namespace testing
TAUTLINE_END
