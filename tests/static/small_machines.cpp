// SPDX-License-Identifier: BSL-1.0
// What stands in for the runtime library on machines of 32 bits, held against the real thing.
#include <cstdint>
#include <initializer_list>

#include <tautline/core.hpp>

using namespace tautline;

namespace {

// --- the next multiple of a period, without a division ----------------------------------------------------------------

constexpr bool multiples_are_right() {
  long long const many = 1LL << 41;
  for (step_number length : {1LL, 2LL, 3LL, 7LL, 10LL, 1000LL, (1LL << 32) - 1, 1LL << 32, (1LL << 40) + 3}) {
    for (step_number step : {0LL, 1LL, 2LL, 6LL, 7LL, 9LL, 10LL, 999LL, 1000LL, 1001LL, (1LL << 32) - 1, 1LL << 32, (1LL << 33) + 5, many}) {
      if (detail::multiple_after(step, length) != (step / length + 1) * length) return false;
    }
  }
  return true;
}
static_assert(multiples_are_right());

/// A hook may change its period while it runs: multiples of the new one come next, on every machine.
constexpr bool periods_may_change() {
  every_steps often{100};
  every_steps::memory kept;
  often.restart(kept, {.step = 0, .first = true});
  if (kept.next != 100) return false;
  often.period = 30;
  often.looked(kept, {.step = 100}, true, true);
  if (kept.next != 120) return false;
  often.period = 1LL << 40;
  often.looked(kept, {.step = 120}, true, true);
  return kept.next == 1LL << 40;
}
static_assert(periods_may_change());

// --- doubles by their bits ---------------------------------------------------------------------------------------------

constexpr bool integers_are_right() {
  for (std::uint64_t each : {0ULL, 1ULL, 2ULL, 3ULL, 1000ULL, 4294967295ULL, 4294967296ULL, (1ULL << 53) - 1, 1ULL << 62}) {
    if (detail::double_of_integer(each, false) != static_cast<double>(each)) return false;
    if (detail::double_of_integer(each, true) != -static_cast<double>(each)) return false;
  }
  return detail::double_of_integer((1ULL << 53) + 1, false) == 9007199254740992.0;  // cut off
}
static_assert(integers_are_right());

constexpr std::uint64_t bits_of(double number) { return __builtin_bit_cast(std::uint64_t, number); }
constexpr bool floats_are_right() {
  for (float each : {0.0F, 1.0F, 0.1F, 3e38F, 1.2e-38F, 16777215.0F, __builtin_inff()}) {
    if (bits_of(detail::double_of_float(each)) != bits_of(static_cast<double>(each))) return false;
    if (bits_of(detail::double_of_float(-each)) != bits_of(static_cast<double>(-each))) return false;
  }
  double const nan = detail::double_of_float(__builtin_nanf(""));
  return nan != nan && detail::double_of_float(1e-39F) == 0;
}
static_assert(floats_are_right());

}  // namespace
