// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <tautline/testing/allocations.hpp>

TAUTLINE_BEGIN
namespace testing {

/// A clock that stands still until a test moves it. Copies show the same time: one goes into `options{with_clock{clock}}`,
/// one into the hook, one stays with the test. A `script` moves its clock in each raw run.
class fake_clock {
 public:
  /// @param ticks_per_second a power of two, by default, so that times in seconds are exact
  explicit fake_clock(std::uint64_t ticks_per_second = 1024)
      : shared_(std::make_shared<shared>(shared{0, ticks_per_second})) {}

  [[nodiscard]] std::uint64_t now() const { return shared_->ticks; }
  [[nodiscard]] std::uint64_t ticks_per_second() const { return shared_->second; }
  /// Lets time pass, in ticks. It is a const member since any copy may do it.
  void advance(std::uint64_t ticks) const { shared_->ticks += ticks; }

 private:
  struct shared {
    std::uint64_t ticks;
    std::uint64_t second;
  };
  std::shared_ptr<shared> shared_;
};

/// A sleeper that wakes up at once: it writes down for how long it was to sleep, and moves the clock on by that.
class fake_sleeper {
 public:
  fake_sleeper() = default;
  explicit fake_sleeper(fake_clock clock) : clock_(std::move(clock)) {}

  /// @param milliseconds as the option `with_sleep` gives them
  void operator()(std::uint32_t milliseconds) const {
    uncounted const by_the_kit;
    slept_->push_back(milliseconds);
    clock_.advance(milliseconds * clock_.ticks_per_second() / 1000);
  }
  /// Every sleep so far, in milliseconds.
  [[nodiscard]] std::vector<std::uint32_t> const& slept() const { return *slept_; }

 private:
  fake_clock clock_;
  std::shared_ptr<std::vector<std::uint32_t>> slept_ = std::make_shared<std::vector<std::uint32_t>>();
};

}  // namespace testing
TAUTLINE_END
