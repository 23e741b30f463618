// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/static_graph.hpp>

#include <cstddef>
#include <cstdint>

#include <tautline/core/config.hpp>

TAUTLINE_BEGIN
namespace detail {

/// Nodes of a graph, by their index.
template <std::size_t Count>
struct node_set {
  static constexpr std::size_t words = (Count + 63) / 64 == 0 ? 1 : (Count + 63) / 64;
  std::uint64_t bits[words]{};

  // every word is written: g++ 12 takes {[0] = 2} and {[1] = 2} for the same template argument
  constexpr node_set() {
    for (std::uint64_t& word : bits) word = 0;
  }
  constexpr void add(std::size_t node) { bits[node / 64] |= std::uint64_t{1} << (node % 64); }
  [[nodiscard]] constexpr bool has(std::size_t node) const { return (bits[node / 64] >> (node % 64) & 1) != 0; }
  [[nodiscard]] constexpr node_set without(node_set const& other) const {
    node_set rest;
    for (std::size_t i = 0; i < words; ++i) rest.bits[i] = bits[i] & ~other.bits[i];
    return rest;
  }
  TAUTLINE_INLINE constexpr void add(node_set const& other) {
    for (std::size_t i = 0; i < words; ++i) bits[i] |= other.bits[i];
  }
};

/// What a kind of request needs: nodes that run in every run, and those that run in some; and of these, the ones that
/// change variables, or look at what was changed.
template <std::size_t Count>
struct run_plan {
  node_set<Count> always;
  node_set<Count> possible;
  node_set<Count> late;
};

}  // namespace detail
TAUTLINE_END
