// SPDX-License-Identifier: BSL-1.0
#include <tautline/hooks/any_trigger.hpp>

#include "support.hpp"

using namespace support;
using namespace tautline;

namespace {

template <class Trigger>
struct acting {
  Trigger trigger;
  std::vector<step_number>* steps;
  void after_run(auto& ctx) {
    if (ctx.due()) steps->push_back(ctx.step());
  }
  void end(auto&, life& at) {
    if (at.due()) steps->push_back(-at.step());
  }
};

/// Steps at which a trigger fires in a session that resumes, jumps, breaks down and goes back.
template <class Trigger>
std::vector<step_number> played(Trigger trigger, step_number per_run, long broken_run = 7) {
  world of;
  of.first_step = 5;
  of.per_run = per_run;
  of.ticks_a_run = 700;
  of.in_run = broken_in(broken_run);
  std::vector<step_number> steps;
  {
    auto session = monitored(scripted(of), options{with_clock{run_clock{&of}}}, acting<Trigger>{trigger, &steps});
    (void)session.run_steps(15);
  }
  return steps;
}

template <class Trigger>
void same_as_inside(Trigger trigger) {
  for (step_number per_run : {1, 3, 10}) {
    for (long broken_run : {1, 7}) {
      auto const direct = played(trigger, per_run, broken_run);
      CHECK(played(any_trigger(trigger), per_run, broken_run) == direct);
    }
  }
  any_trigger const wrapped(trigger);
  CHECK(wrapped.may_fire_at_end() == fires_at_end<Trigger>);
  CHECK(wrapped.wants_clock() == tautline::detail::uses_clock<Trigger>);
}

}  // namespace

TEST_CASE("any_trigger fires as the trigger inside") {
  CHECK(played(every_steps{4}, 1) == std::vector<step_number>{8, 8, 12});  // back to step 5 after 6 runs: at 8 again
  same_as_inside(every_steps{4});
  same_as_inside(every_steps{.period = 4, .also_first = true});
  same_as_inside(every_steps{4} | at_end);
  same_as_inside(every_seconds{2});
  same_as_inside(every_seconds{.seconds = 2, .also_first = true} | at_end);
  same_as_inside(at_steps{6, 7, 20});
  same_as_inside(once);
  same_as_inside(never | at_end);
  same_as_inside(after{9} & before{14} & every_steps{2});
  same_as_inside(when([odd = step_number{1}](step_number step) { return step % 2 == odd; }));
}

TEST_CASE("the clock is read only for a trigger that looks at it") {
  world of;
  int readings = 0;
  struct counting_clock {
    int* readings;
    [[nodiscard]] int now() const { return ++*readings; }
    static constexpr int ticks_per_second() { return 1000; }
  };
  std::vector<step_number> steps;
  {
    auto session = monitored(scripted(of), options{with_clock{counting_clock{&readings}}},
                             acting<any_trigger>{any_trigger(every_steps{2}), &steps});
    (void)session.run_steps(4);
  }
  CHECK(readings == 0);
  CHECK(steps == std::vector<step_number>{2, 4});
  auto session = monitored(scripted(of), options{with_clock{counting_clock{&readings}}},
                           acting<any_trigger>{any_trigger(every_seconds{1}), &steps});
  (void)session.run_steps(4);
  CHECK(readings > 0);
}
