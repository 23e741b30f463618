// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <tautline/core/fixed_string.hpp>
#include <tautline/io/checkpoint/metadata.hpp>

// Which of the saved checkpoints stay. When to save is another question: that is a trigger's.

TAUTLINE_BEGIN

/// A complete checkpoint, as a policy sees it.
struct checkpoint_entry {
  step_number step = 0;
  std::int64_t sequence = 0;  ///< counts the savings of the folder
  bool has_time = false;
  std::int64_t time = 0;  ///< seconds, by the store's clock
  checkpoint_metadata metadata{};
};

/// Says what stays: raises `keep[i]` where `oldest_first[i]` is worth it, and never lowers one. What no part of a policy
/// keeps is removed, but never the newest. It is asked after each saving, with what the last time has left.
template <class Policy>
concept keep_policy = std::copy_constructible<Policy> &&
                      requires(Policy const& policy, std::span<checkpoint_entry const> oldest_first,
                               std::span<std::uint8_t> keep) { policy.mark(oldest_first, keep); };

/// The `count` newest.
struct keep_latest {
  std::size_t count = 5;
  void mark(std::span<checkpoint_entry const> oldest_first, std::span<std::uint8_t> keep) const {
    std::size_t const first = oldest_first.size() - std::min(count, oldest_first.size());
    for (std::size_t i = first; i < oldest_first.size(); ++i) keep[i] = 1;
  }
};

/// All.
struct keep_all {
  void mark(std::span<checkpoint_entry const>, std::span<std::uint8_t> keep) const {
    for (std::uint8_t& each : keep) each = 1;
  }
};

/// The first at or after every multiple of `count` steps.
struct keep_every_steps {
  step_number count;
  void mark(std::span<checkpoint_entry const> oldest_first, std::span<std::uint8_t> keep) const {
    if (count <= 0) return;
    for (std::size_t i = 0; i < oldest_first.size(); ++i) {
      step_number const period = oldest_first[i].step / count;
      bool first = period > 0;
      for (std::size_t other = 0; other < oldest_first.size(); ++other) {
        if (oldest_first[other].step / count == period && oldest_first[other].step < oldest_first[i].step) first = false;
      }
      if (first) keep[i] = 1;
    }
  }
};

/// The first, and each that is at least `count` seconds younger than the last one kept so. A store without a clock knows no
/// times: then this keeps nothing.
struct keep_every_seconds {
  std::int64_t count;
  void mark(std::span<checkpoint_entry const> oldest_first, std::span<std::uint8_t> keep) const {
    bool has_last = false;
    std::int64_t last = 0;
    for (std::size_t i = 0; i < oldest_first.size(); ++i) {
      checkpoint_entry const& each = oldest_first[i];
      if (!each.has_time || (has_last && each.time - last < count)) continue;
      has_last = true, last = each.time, keep[i] = 1;
    }
  }
};

enum class better : std::uint8_t { larger, smaller };

/// The `count` best by a number of the metadata. One that has no such number, or NaN, is never among them; of equal ones
/// the older stays.
///
///     keep_latest{2} | keep_best<"accuracy">{1} | keep_best<"loss", better::smaller>{1}
template <fixed_string Name, better Better = better::larger>
struct keep_best {
  std::size_t count = 1;
  void mark(std::span<checkpoint_entry const> oldest_first, std::span<std::uint8_t> keep) const {
    std::vector<std::pair<double, std::size_t>> found;
    for (std::size_t i = 0; i < oldest_first.size(); ++i) {
      double const number = oldest_first[i].metadata.number(Name.characters);
      if (is_number(number)) found.emplace_back(Better == better::larger ? -number : number, i);
    }
    std::sort(found.begin(), found.end());
    for (std::size_t i = 0; i < found.size() && i < count; ++i) keep[found[i].second] = 1;
  }

 private:
  /// By the bits: with -ffast-math a compiler takes every number for one.
  static bool is_number(double const& number) {
    auto const bits = __builtin_bit_cast(std::uint64_t, number);
    return (bits & 0x7fffffffffffffff) <= 0x7ff0000000000000;
  }
};

/// Keeps what any of its parts keeps: `keep_latest{3} | keep_every_steps{10000}`.
template <keep_policy... Policies>
struct keep_any;
template <>
struct keep_any<> {
  void mark(std::span<checkpoint_entry const>, std::span<std::uint8_t>) const {}
};
template <keep_policy First, keep_policy... Others>
struct keep_any<First, Others...> {
  First first;
  keep_any<Others...> others;
  void mark(std::span<checkpoint_entry const> oldest_first, std::span<std::uint8_t> keep) const {
    first.mark(oldest_first, keep);
    others.mark(oldest_first, keep);
  }
};

template <keep_policy Left, keep_policy Right>
[[nodiscard]] keep_any<Left, Right> operator|(Left left, Right right) {
  return {left, {right, {}}};
}

TAUTLINE_END
