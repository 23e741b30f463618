// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tautline/core.hpp>
#include <tautline/testing/allocations.hpp>

// What happened, as lines of text: the grammar of the conformance scenarios.
//
//     begin a                          after_create_session a       end a        close a
//     before_run a step=3              after_run a step=3 loss=0.5  on_error a aborted
//     session 1                        run 3 fetch=loss feed=rate   session_closed 1

TAUTLINE_BEGIN
namespace testing {

/// Lines in the order in which things happened. Copies share them.
class trace {
 public:
  void say(std::string line) const {
    uncounted const by_the_kit;
    lines_->push_back(std::move(line));
  }
  [[nodiscard]] std::vector<std::string> const& lines() const { return *lines_; }
  /// All lines, each with its end.
  [[nodiscard]] std::string text() const {
    std::string all;
    for (std::string const& line : *lines_) all += line + "\n";
    return all;
  }
  /// How often this very line stands there.
  [[nodiscard]] long count(std::string const& wanted) const {
    long found = 0;
    for (std::string const& line : *lines_) found += line == wanted ? 1 : 0;
    return found;
  }
  void clear() const { lines_->clear(); }

 private:
  std::shared_ptr<std::vector<std::string>> lines_ = std::make_shared<std::vector<std::string>>();
};

/// A number as the grammar has it: C's "%g".
[[nodiscard]] inline std::string in_words(double value) {
  char words[40];
  std::snprintf(words, sizeof words, "%g", value);
  return words;
}
[[nodiscard]] inline std::string in_words(text const& given) {
  char words[200];
  given.write_to(words, sizeof words);
  return words;
}
[[nodiscard]] inline std::string in_words(error const& given) {
  char words[400];
  given.write_to(words, sizeof words);
  return words;
}
[[nodiscard]] inline std::string in_words(stop_record const& given) {
  char words[400];
  given.write_to(words, sizeof words);
  return words;
}

/// A hook that writes down every callback of every hook of its session, in the names that these have; it sees no values
/// and no `begin`. Its own callbacks are left out.
///
///     trace seen;
///     auto session = monitored(graph, my_hook{}, trace_recorder{seen});
///     CHECK(seen.text() == "after_create_session my_hook\nbefore_run my_hook step=1\n…");
class trace_recorder {
 public:
  static constexpr bool stateless = true;

  explicit trace_recorder(trace seen) : seen_(std::move(seen)) {}

  void on_enter(moment const& now) noexcept {
    if (now.role == hook_role::none) return;  // the session's own moments: a scripted_session writes its own lines
    uncounted const by_the_kit;
    std::string line = std::string(to_string(now.where)) + " " + now.hook;
    if (now.where == callback::before_run || now.where == callback::gate || now.where == callback::after_run ||
        now.where == callback::save) {
      line += " step=" + std::to_string(now.step);
    }
    seen_.say(std::move(line));
  }
  void on_leave(moment const&) noexcept {}

 private:
  trace seen_;
};

/// A hook with every callback, which writes down what it sees, and does there what the test wants.
///
///     probe<"loss">{seen, "a", [](callback where, life& at) { if (where == callback::end) at.request_stop(); }}
///
/// @tparam Names what it asks for in every run: numbers
template <fixed_string... Names>
class probe {
 public:
  static constexpr bool stateless = true;
  using action = std::function<void(callback where, life& at)>;

  explicit probe(trace seen, std::string id, action act = {})
      : seen_(std::move(seen)), id_(std::move(id)), act_(std::move(act)) {}

  template <class Graph>
  void begin(Graph&, life& at) {
    told(callback::begin, at);
  }
  template <class Session>
  void after_create_session(Session&, life& at) {
    told(callback::after_create_session, at);
  }
  template <class Context>
  auto before_run(Context& ctx) {
    told(callback::before_run, ctx, " step=" + std::to_string(ctx.step()));
    if constexpr (sizeof...(Names) > 0) return run_args{fetch<Names>...};
  }
  template <class Context>
  void after_run(Context& ctx)
    requires(sizeof...(Names) == 0)
  {
    told(callback::after_run, ctx, " step=" + std::to_string(ctx.step()));
  }
  template <class Context, class Values>
    requires(sizeof...(Names) > 0)
  void after_run(Context& ctx, Values const& values) {
    std::string more = " step=" + std::to_string(ctx.step());
    values.each([&](char const* name, auto const& value) {
      more += std::string(" ") + name + "=" + in_words(static_cast<double>(value));
    });
    told(callback::after_run, ctx, more);
  }
  template <class Session>
  void end(Session&, life& at) {
    told(callback::end, at);
  }
  void on_error(error const& happened, life& at) {
    told(callback::on_error, at, std::string(" ") + to_string(happened.kind));
  }
  void close(life& at) { told(callback::close, at); }

 private:
  void told(callback where, life& at, std::string const& more = "") {
    seen_.say(std::string(to_string(where)) + " " + id_ + more);
    if (act_) act_(where, at);
  }

  trace seen_;
  std::string id_;
  action act_;
};

}  // namespace testing
TAUTLINE_END
