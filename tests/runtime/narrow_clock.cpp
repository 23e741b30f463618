// SPDX-License-Identifier: BSL-1.0
// A microcontroller's counter has 32 or 16 bits and wraps: at 168 MHz after 25 seconds.

#include <cstdint>
#include <type_traits>

#include <doctest/doctest.h>

#include <tautline/core.hpp>
#include <tautline/sessions/step_function.hpp>

using namespace tautline;

namespace {

template <class Ticks>
struct counter {
  static inline Ticks at{};
  static Ticks now() { return at; }
  static std::uint32_t ticks_per_second() { return 100; }
  static void pass(unsigned ticks) { at = static_cast<Ticks>(static_cast<std::make_unsigned_t<Ticks>>(at) + ticks); }
};

/// Steps of 10 ticks; the counter wraps in the second one.
template <class Ticks>
auto slices_over_the_wrap() {
  using clock = counter<Ticks>;
  clock::at = static_cast<Ticks>(~0U - 14);
  int left = 1000;  // an end, should the time have none
  auto session = monitored(step_function([&] { return clock::pass(10), --left >= 0; }), options{with_clock{clock{}}, longest_step{10}});
  step_number const first = session.run_for(30U).steps;
  step_number const second = session.run_for(30U).steps;
  CHECK(session.overruns() == 0);
  return first == 3 && second == 6;
}

struct rings {
  every_seconds trigger{1};
  int count = 0;
  void after_run(auto& ctx) {
    if (ctx.due()) ++count;
  }
};

}  // namespace

TEST_CASE("time slices go on when a narrow counter wraps") {
  CHECK(slices_over_the_wrap<std::uint32_t>());
  CHECK(slices_over_the_wrap<std::uint16_t>());
  CHECK(slices_over_the_wrap<std::int32_t>());
}

TEST_CASE("every_seconds counts on when a narrow counter wraps, again and again") {
  using clock = counter<std::uint16_t>;
  clock::at = 65'500;
  auto session = monitored(step_function([] { clock::pass(50); }), options{with_clock{clock{}}}, rings{});
  (void)session.run_steps(4001);  // 2000 seconds: the counter wraps three times
  // it looks before a step and counts from the end of the step in which it acted: each third step
  CHECK(session.hook<rings>().count == 1333);
}
