// SPDX-License-Identifier: BSL-1.0
//
// An adaptive filter (LMS) of 16 taps in fixed point: it learns how a room answers to a loudspeaker, sample by sample. Signals
// are Q15, weights Q31: small steps must not be lost. No floating-point number is touched.

#pragma once

#include <array>
#include <cstdint>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

namespace lms {

inline constexpr std::size_t taps = 16;
using weights = std::array<std::int32_t, taps>;  // Q31
using delay_line = std::array<std::int16_t, taps>;

struct samples {
  delay_line played{};       // Q15, the newest first
  std::int32_t heard = 0;    // Q15, wider, since what is heard may clip
};

/// What the filter has to find out: an echo that fades. Q15.
inline constexpr delay_line room = {9830, -6554, 4915, 3277, -2621, 1966, -1475, 1106, -830, 622, -467, 350, -262, 197, -148, 111};

constexpr std::int32_t clip(std::int64_t number) {
  return number > 32767 ? 32767 : number < -32768 ? -32768 : static_cast<std::int32_t>(number);
}

/// Noise that is played, and what the microphone hears of it. Now and then somebody claps, which is no echo.
class microphone {
 public:
  bool operator()(samples& now) {
    for (std::size_t tap = taps - 1; tap > 0; --tap) now.played[tap] = line_[tap] = line_[tap - 1];
    random_ = random_ * 1664525U + 1013904223U;
    now.played[0] = line_[0] = static_cast<std::int16_t>(static_cast<std::int32_t>(random_) >> 17);
    std::int64_t sum = 0;
    for (std::size_t tap = 0; tap < taps; ++tap) sum += room[tap] * line_[tap];
    now.heard = clip(sum >> 15);
    if (++taken_ % 127 == 0) now.heard = 32767;
    return true;
  }
  auto state() {
    return tautline::fields{tautline::field<"line">(line_), tautline::field<"taken">(taken_), tautline::field<"random">(random_)};
  }

 private:
  delay_line line_{};
  std::uint32_t taken_ = 0;
  std::uint32_t random_ = 1;
};

/// Q15: what was heard, less what the filter expected.
inline std::int32_t error_of(weights const& filter, samples const& now) {
  std::int64_t sum = 0;  // Q46
  for (std::size_t tap = 0; tap < taps; ++tap) sum += std::int64_t{filter[tap]} * now.played[tap];
  return now.heard - static_cast<std::int32_t>(sum >> 31);
}
/// Q15: its square.
inline std::int32_t loss_of(std::int32_t error) { return static_cast<std::int32_t>(std::int64_t{error} * error >> 15); }
/// A step of size 1/8: Q15 · Q15 is Q30, and Q31 wants one bit more.
inline void adapt(weights& filter, samples const& now, std::int32_t error) {
  for (std::size_t tap = 0; tap < taps; ++tap) {
    std::int64_t const next = filter[tap] + (std::int64_t{error} * now.played[tap] >> 2);
    filter[tap] = next > INT32_MAX ? INT32_MAX : next < INT32_MIN ? INT32_MIN : static_cast<std::int32_t>(next);
  }
}

inline auto make_graph() {
  return tautline::static_graph{}
      .variable<"filter">(weights{})
      .source<"sample">(samples{}, microphone{})
      .op<"error", "filter", "sample">([](weights const& filter, samples const& now) { return error_of(filter, now); })
      .op<"loss", "error">([](std::int32_t error) { return loss_of(error); })
      .update<"train", "filter", "sample", "error">(
          [](weights& filter, samples const& now, std::int32_t error) { adapt(filter, now, error); });
}

}  // namespace lms
