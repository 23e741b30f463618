// SPDX-License-Identifier: BSL-1.0
#pragma once

// What is measured around a loop, and what the loops must agree in.

#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include <tautline/testing/allocations.hpp>
#include <valgrind/callgrind.h>

namespace overhead {

/// The bits of all numbers that a loop computed: those of the model, then those of the hooks.
class record {
 public:
  template <class Number>
  void add(Number number) {
    using bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
    bits_.push_back(std::bit_cast<bits>(number));
    shown_.push_back(static_cast<double>(number));
  }
  void end_of_model() { of_model_ = bits_.size(); }

  /// Where two records differ, for people; empty if nowhere.
  [[nodiscard]] std::string difference(record const& expected) const {
    if (bits_.size() != expected.bits_.size()) {
      return std::to_string(bits_.size()) + " numbers instead of " + std::to_string(expected.bits_.size());
    }
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      if (bits_[i] == expected.bits_[i]) continue;
      bool const of_model = i < of_model_;
      char text[160];
      std::snprintf(text, sizeof text, "number %zu of the %s is %.17g, by hand %.17g", of_model ? i : i - of_model_,
                    of_model ? "model" : "hooks", shown_[i], expected.shown_[i]);
      return text;
    }
    return {};
  }

 private:
  std::vector<std::uint64_t> bits_;
  std::vector<double> shown_;
  std::size_t of_model_ = 0;
};

/// A loop stands between `start` and `stop`. Each takes the time, counts allocations, and tells callgrind.
class probe {
 public:
  /// @param name of a dump of callgrind; none without one
  explicit probe(char const* name = nullptr) : name_(name) {}

  [[gnu::noinline]] void start() {
    allocations_ = tautline::testing::allocations();
    if (name_ != nullptr) CALLGRIND_ZERO_STATS;
    start_ = std::chrono::steady_clock::now();
  }
  [[gnu::noinline]] void stop() {
    auto const end = std::chrono::steady_clock::now();
    if (name_ != nullptr) CALLGRIND_DUMP_STATS_AT(name_);
    nanoseconds = std::chrono::duration<double, std::nano>(end - start_).count();
    allocations = tautline::testing::allocations() - allocations_;
  }

  double nanoseconds = 0;
  std::int64_t allocations = 0;

 private:
  char const* name_;
  std::chrono::steady_clock::time_point start_;
  std::int64_t allocations_ = 0;
};

}  // namespace overhead
