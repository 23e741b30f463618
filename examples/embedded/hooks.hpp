// SPDX-License-Identifier: BSL-1.0
//
// Hooks of this firmware, beside those of the library. All of them may be used in real time, and list what has to be found
// again after a reset.

#pragma once

#include <array>
#include <cstdint>

#include <tautline/core.hpp>

#include "board/watchdog_timer.hpp"

/// Mean and variance of a value over all steps that changed the model (Welford's way), in float.
template <tautline::fixed_string Name>
class running_statistics {
 public:
  static constexpr bool real_time = true;

  void begin(auto&) noexcept { count_ = 0, mean_ = 0, squares_ = 0; }
  auto before_run(auto&) const noexcept { return tautline::fetch<Name>; }
  void after_run(auto& ctx, auto& values) noexcept {
    if (ctx.vetoed()) return;  // what was left out does not count
    auto const value = static_cast<float>(values[tautline::fetch<Name>]);
    ++count_;
    float const off = value - mean_;
    mean_ += off / static_cast<float>(count_);
    squares_ += off * (value - mean_);
  }
  auto state() {
    using tautline::field;
    return tautline::fields{field<"count">(count_), field<"mean">(mean_), field<"squares">(squares_)};
  }

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] float mean() const { return mean_; }
  [[nodiscard]] float variance() const { return count_ > 1 ? squares_ / static_cast<float>(count_ - 1) : 0; }

 private:
  std::uint32_t count_ = 0;
  float mean_ = 0;
  float squares_ = 0;
};

/// The same for a number in fixed point: sums, so that nothing is divided in a step and no float is touched.
template <tautline::fixed_string Name>
class running_sums {
 public:
  static constexpr bool real_time = true;

  void begin(auto&) noexcept { count_ = 0, sum_ = 0, squares_ = 0; }
  auto before_run(auto&) const noexcept { return tautline::fetch<Name>; }
  void after_run(auto& ctx, auto& values) noexcept {
    if (ctx.vetoed()) return;
    std::int64_t const value = values[tautline::fetch<Name>];
    ++count_;
    sum_ += value;
    squares_ += value * value;
  }
  auto state() {
    using tautline::field;
    return tautline::fields{field<"count">(count_), field<"sum">(sum_), field<"squares">(squares_)};
  }

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::int64_t mean() const { return count_ > 0 ? sum_ / count_ : 0; }
  [[nodiscard]] std::int64_t variance() const { return count_ > 0 ? squares_ / count_ - mean() * mean() : 0; }

 private:
  std::uint32_t count_ = 0;
  std::int64_t sum_ = 0;
  std::int64_t squares_ = 0;
};

/// The last `Size` values of those at which the trigger fires, for whoever reads them out.
template <tautline::fixed_string Name, class Value, std::size_t Size>
class ring_log {
 public:
  static constexpr bool real_time = true;
  explicit ring_log(tautline::every_steps when) : trigger(when) {}

  void begin(auto&) noexcept { count_ = 0, values_ = {}; }
  auto before_run(auto& ctx) const noexcept { return ask_if(ctx.due(), tautline::fetch<Name>); }
  void after_run(auto&, auto& values) noexcept { values_[count_++ % Size] = values[tautline::fetch<Name>]; }
  auto state() { return tautline::fields{tautline::field<"count">(count_), tautline::field<"values">(values_)}; }

  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// The last one is 0, the one before it 1.
  [[nodiscard]] Value const& back(std::uint32_t age) const { return values_[(count_ - 1 - age) % Size]; }

  tautline::every_steps trigger;

 private:
  std::uint32_t count_ = 0;
  std::array<Value, Size> values_{};
};

/// Leaves out updates by an error that is out of all bounds, which a filter in fixed point would not get over soon. It is
/// what nan_checker is for floating-point numbers.
template <tautline::fixed_string Name>
class bounds_gate {
 public:
  static constexpr bool real_time = true;
  static constexpr bool needs_gate = true;
  using category = tautline::check;
  explicit bounds_gate(std::int32_t most) : most_(most) {}

  void begin(auto&) noexcept { skipped_ = 0; }
  auto before_run(auto&) const noexcept { return tautline::fetch<Name>; }
  void gate(auto& ctx, auto& values) noexcept {
    std::int32_t const value = values[tautline::fetch<Name>];
    if (value <= most_ && value >= -most_) [[likely]] return;
    ctx.veto();
    ++skipped_;
  }
  auto state() { return tautline::fields{tautline::field<"skipped">(skipped_)}; }

  [[nodiscard]] std::uint32_t skipped() const { return skipped_; }

 private:
  std::int32_t most_;
  std::uint32_t skipped_ = 0;
};

/// Reloads the board's watchdog_timer before each step: should one hang, the chip is reset and goes on from its checkpoint.
class board_watchdog {
 public:
  static constexpr bool real_time = true;
  static constexpr bool stateless = true;
  explicit board_watchdog(std::uint32_t ticks) : ticks_(ticks) {}

  void after_create_session(auto&) noexcept { board::watchdog_timer::start(ticks_); }
  void before_run(auto&) noexcept { board::watchdog_timer::kick(); }
  void close() noexcept { board::watchdog_timer::stop(); }

 private:
  std::uint32_t ticks_;
};
