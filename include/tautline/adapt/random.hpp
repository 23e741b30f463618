// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <random>
#include <type_traits>

#include <tautline/core/tensor.hpp>

// The engines of <random> as values that a checkpoint can hold: `field<"random">(engine_)`.

TAUTLINE_BEGIN
namespace detail {

template <class>
inline constexpr bool is_random_engine = false;
template <class Number, Number... Parameters>
inline constexpr bool is_random_engine<std::linear_congruential_engine<Number, Parameters...>> = true;
template <class Number, std::size_t W, std::size_t N, std::size_t M, std::size_t R, Number A, std::size_t U, Number D,
          std::size_t S, Number B, std::size_t T, Number C, std::size_t L, Number F>
inline constexpr bool is_random_engine<std::mersenne_twister_engine<Number, W, N, M, R, A, U, D, S, B, T, C, L, F>> = true;
template <class Number, std::size_t W, std::size_t S, std::size_t R>
inline constexpr bool is_random_engine<std::subtract_with_carry_engine<Number, W, S, R>> = true;

}  // namespace detail

/// An engine as its bytes: exact for one build, like everything that is compared to the bit. Distributions of <random>
/// may remember a number, too, as `std::normal_distribution` does; make those anew for each draw, or `reset()` them.
template <class Engine>
  requires(detail::is_random_engine<Engine> && std::is_trivially_copyable_v<Engine>)
struct tensor_traits<Engine> {
  static constexpr element_type type = element_type::U8;
  static constexpr std::uint8_t rank = 1;
  static void* data(Engine& engine) { return &engine; }
  static void shape(Engine const&, std::int64_t* out) { out[0] = static_cast<std::int64_t>(sizeof(Engine)); }
};

TAUTLINE_END
