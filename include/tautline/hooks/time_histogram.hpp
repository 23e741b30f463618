// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN

/// Counts times by their length, in buckets whose width grows with it: each power of two is divided into eight, so that a
/// quantile is right within a sixteenth of itself. Times are in ticks; there is no longest one.
///
/// Two of them may be merged: those of several threads, or of several runs.
/// **Cost** 2 KiB; an increment a time, no allocation, no division.
class time_histogram {
 public:
  static constexpr int part_bits = 3;
  static constexpr int parts = 1 << part_bits;
  static constexpr int buckets = (64 - part_bits + 1) * parts;

  constexpr void add(std::uint64_t ticks) noexcept {
    if (counts_[bucket_of(ticks)] != UINT32_MAX) ++counts_[bucket_of(ticks)];
    ++count_;
    sum_ += static_cast<double>(ticks);
    if (ticks > longest_) longest_ = ticks;
    if (ticks < shortest_) shortest_ = ticks;
  }
  constexpr void merge(time_histogram const& other) noexcept {
    for (int i = 0; i < buckets; ++i) {
      std::uint32_t const more = other.counts_[i];
      counts_[i] = more > UINT32_MAX - counts_[i] ? UINT32_MAX : counts_[i] + more;
    }
    count_ += other.count_;
    sum_ += other.sum_;
    if (other.longest_ > longest_) longest_ = other.longest_;
    if (other.shortest_ < shortest_) shortest_ = other.shortest_;
  }

  [[nodiscard]] constexpr std::uint64_t count() const noexcept { return count_; }
  /// Ticks; 0 where nothing has been counted.
  [[nodiscard]] constexpr std::uint64_t max() const noexcept { return longest_; }
  [[nodiscard]] constexpr std::uint64_t min() const noexcept { return count_ == 0 ? 0 : shortest_; }
  [[nodiscard]] constexpr double sum() const noexcept { return sum_; }
  [[nodiscard]] constexpr double mean() const noexcept { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

  /// The time that a part of all is not longer than: `quantile(0.99)`. In ticks, the middle of its bucket, but not
  /// beyond the shortest and longest seen.
  [[nodiscard]] constexpr double quantile(double part) const noexcept {
    if (count_ == 0) return 0;
    double const wanted = part * static_cast<double>(count_);
    std::uint64_t below = 0;
    int bucket = 0;
    for (; bucket < buckets - 1; ++bucket) {
      below += counts_[bucket];
      if (below > 0 && static_cast<double>(below) >= wanted) break;
    }
    double const middle = (static_cast<double>(lowest_of(bucket)) + static_cast<double>(lowest_of(bucket) + width_of(bucket) - 1)) / 2;
    double const longest = static_cast<double>(longest_), shortest = static_cast<double>(shortest_);
    return middle > longest ? longest : middle < shortest ? shortest : middle;
  }

  /// How many times are in a bucket, and which: from `lowest_of` on, `width_of` many values.
  [[nodiscard]] constexpr std::uint32_t in_bucket(int bucket) const noexcept { return counts_[bucket]; }
  [[nodiscard]] static constexpr std::uint64_t lowest_of(int bucket) noexcept {
    if (bucket < 2 * parts) return static_cast<std::uint64_t>(bucket);
    int const power = bucket / parts - 1;
    return static_cast<std::uint64_t>(parts + bucket % parts) << power;
  }
  [[nodiscard]] static constexpr std::uint64_t width_of(int bucket) noexcept {
    return bucket < 2 * parts ? 1 : std::uint64_t{1} << (bucket / parts - 1);
  }
  [[nodiscard]] static constexpr int bucket_of(std::uint64_t ticks) noexcept {
    if (ticks < 2 * parts) return static_cast<int>(ticks);
    int const power = 63 - __builtin_clzll(ticks) - part_bits;  // ticks >> power is in [8, 16)
    return (power + 1) * parts + static_cast<int>(ticks >> power) - parts;
  }

 private:
  std::uint64_t count_ = 0;
  double sum_ = 0;
  std::uint64_t longest_ = 0;
  std::uint64_t shortest_ = UINT64_MAX;
  std::uint32_t counts_[buckets]{};
};

TAUTLINE_END
