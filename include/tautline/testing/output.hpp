// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <tautline/testing/fake_clock.hpp>
#include <tautline/testing/script.hpp>
#include <tautline/testing/trace.hpp>

TAUTLINE_BEGIN
namespace testing {

/// What a hook writes while a law is tried: the factory gives it to the hook as a sink, a writer, a listener.
///
///     [](output& out) { return tensor_logger<"loss">{every_steps{3}, {.log = out.sink(), .writer = out, .clock = out.clock()}}; }
class output {
 public:
  explicit output(script& plan) : plan_(&plan) {}
  output(output const&) = delete;
  output& operator=(output const&) = delete;

  /// Takes lines: any callable of the form `sink(std::string_view)` may be wanted.
  [[nodiscard]] auto sink() {
    return [this](std::string_view line) { write(line); };
  }
  /// As a summary writer.
  void add_scalar(std::string_view tag, double value, step_number step) {
    uncounted const by_the_kit;
    char words[64];
    std::snprintf(words, sizeof words, " %lld %.17g", static_cast<long long>(step), value);
    lines_.say(std::string(tag) + words);
  }
  /// Whatever else there is to compare.
  void write(std::string_view line) {
    uncounted const by_the_kit;
    lines_.say(std::string(line));
  }
  /// The clock that the session has, too.
  [[nodiscard]] fake_clock clock() const { return plan_->clock; }
  /// What the session does.
  [[nodiscard]] script& plan() const { return *plan_; }

  [[nodiscard]] std::string text() const { return lines_.text(); }
  void clear() { lines_.clear(); }

 private:
  script* plan_;
  trace lines_;
};

}  // namespace testing
TAUTLINE_END
