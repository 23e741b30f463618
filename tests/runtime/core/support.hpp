// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tautline/core.hpp>

// A session that does what a test tells it to, hooks that write down what they see, and ways to compare what was
// written.

namespace support {

using tautline::callback;
using tautline::error_kind;
using tautline::fetch;
using tautline::life;
using tautline::step_number;
using tautline::target;

using lines = std::vector<std::string>;

inline std::string joined(lines const& all) {
  std::string text;
  for (std::string const& line : all) text += line + "\n";
  return text;
}

inline std::string written(tautline::text const& text) {
  char words[400];
  text.write_to(words, sizeof words);
  return words;
}
inline std::string written(tautline::error const& happened) {
  char words[400];
  happened.write_to(words, sizeof words);
  return words;
}
inline std::string number(float value) {
  char words[40];
  std::snprintf(words, sizeof words, "%g", static_cast<double>(value));
  return words;
}
inline std::string number(double value) {
  char words[40];
  std::snprintf(words, sizeof words, "%g", value);
  return words;
}
inline std::string number(step_number value) { return std::to_string(value); }

/// What happens outside of the library, and what was seen of the inside.
struct world {
  lines trace;
  long runs = 0;      ///< raw runs over all sessions, failed ones too
  long attempts = 0;  ///< attempts to make a session
  long sessions = 0;  ///< sessions that were made
  long taken = 0;     ///< elements taken from this session's input

  long input_length = -1;      ///< of each session; -1: endless
  step_number first_step = 0;  ///< from which a session starts
  step_number per_run = 1;
  std::uint64_t ticks = 0;  ///< of the clock
  std::uint64_t ticks_a_run = 10;

  std::function<tautline::status(long run)> in_run;
  std::function<tautline::status(long attempt)> in_open;
  std::function<tautline::status()> in_close;

  void say(std::string line) { trace.push_back(static_cast<std::string&&>(line)); }
};

/// Ticks pass in raw runs only, so that a time slice is a number of runs.
struct run_clock {
  world* of;
  [[nodiscard]] std::uint64_t now() const { return of->ticks; }
  static constexpr std::uint64_t ticks_per_second() { return 1000; }
};

/// Every value is half the number of the raw run.
struct backend {
  explicit backend(world& given) : of(&given) {}

  tautline::status open() {
    ++of->attempts;
    tautline::status const made = of->in_open ? of->in_open(of->attempts) : tautline::status{};
    if (!made.ok()) return made;
    of->taken = 0;
    of->say("session " + std::to_string(++of->sessions));
    return {};
  }
  tautline::status close() {
    of->say("session_closed " + std::to_string(of->sessions));
    return of->in_close ? of->in_close() : tautline::status{};
  }
  [[nodiscard]] step_number initial_step() const { return of->first_step; }
  [[nodiscard]] step_number steps_per_run() const { return of->per_run; }

  template <class Request>
  tautline::status run(Request const&) {
    ++of->runs;
    of->ticks += of->ticks_a_run;
    of->say((Request::is_step ? "run " : "raw run ") + std::to_string(of->runs));
    tautline::status const done = of->in_run ? of->in_run(of->runs) : tautline::status{};
    if (!done.ok()) return done;
    if (of->input_length >= 0 && of->taken == of->input_length) return tautline::status::end_of_input();
    ++of->taken;
    result = static_cast<float>(of->runs) / 2;
    return {};
  }
  template <tautline::fixed_string Name>
  [[nodiscard]] float const& value() const {
    return result;
  }

  world* of;
  float result = 0;
};

/// Writes down each callback, and does there what the test wants.
struct probe {
  world* of;
  std::string id;
  std::function<void(callback where, life& at)> act = {};

  void begin(auto&, life& at) { seen(callback::begin, at); }
  void after_create_session(auto&, life& at) { seen(callback::after_create_session, at); }
  auto before_run(auto& ctx) {
    seen(callback::before_run, ctx, " step=" + number(ctx.step()));
    return fetch<"loss">;
  }
  void after_run(auto& ctx, auto const& values) {
    seen(callback::after_run, ctx, " step=" + number(ctx.step()) + " loss=" + number(values[fetch<"loss">]));
  }
  void end(auto&, life& at) { seen(callback::end, at); }
  void on_error(tautline::error const& happened, life& at) {
    seen(callback::on_error, at, std::string(" ") + to_string(happened.kind));
  }
  void close(life& at) { seen(callback::close, at); }

  void seen(callback where, life& at, std::string const& more = "") {
    of->say(std::string(to_string(where)) + " " + id + more);
    if (act) act(where, at);
  }
};

/// Asks for a stop when the run of step `last` is over.
struct stop_after {
  step_number last;
  void after_run(auto& ctx) const {
    if (ctx.step() >= last) ctx.request_stop("the last step");
  }
};

inline std::string described(tautline::stop_record const& stop) {
  if (!stop) return "no stop";
  return std::string("stop by ") + stop.by + " at " + (stop.has_step ? number(stop.step) : "no step") + ": " +
         written(stop.reason);
}

#if TAUTLINE_EXCEPTIONS
/// What came out of a call, in words.
template <class Body>
std::string outcome_of(Body body) {
  try {
    body();
  } catch (tautline::exception const& known) {
    return std::string("threw ") + to_string(known.kind());
  } catch (std::exception const& foreign) {
    return std::string("threw ") + foreign.what();
  } catch (...) {
    return "threw something";
  }
  return "returned";
}
#endif

}  // namespace support
