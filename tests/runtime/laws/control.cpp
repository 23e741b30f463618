// SPDX-License-Identifier: BSL-1.0
#include <string>

#include <tautline/hooks/checkpoint_saver.hpp>
#include <tautline/hooks/feed_fn.hpp>
#include <tautline/hooks/final_ops.hpp>
#include <tautline/hooks/global_step_waiter.hpp>
#include <tautline/hooks/learning_rate_schedule.hpp>

#include "list.hpp"

namespace laws_of {
namespace {

/// A rate that falls with each step that is fed.
struct falling_rate {
  double rate = 1;
  double operator()(step_number) { return rate *= 0.9; }
  auto state() { return fields{field<"rate">(rate)}; }
};
/// The same, with more that it forgets; as a request.
struct rate_with_reset : falling_rate {
  int calls = 0;
  auto operator()(step_number step) { return run_args{feed<"rate">(falling_rate::operator()(step) + ++calls)}; }
  void reset() { rate = 1, calls = 0; }
  auto state() { return fields{field<"rate">(rate), field<"calls">(calls)}; }
};
/// Says what it is given.
struct telling_sink {
  output* out;
  status save(training_state const& state) const {
    uncounted const by_the_kit;
    out->write("saved at " + std::to_string(state.step()));
    return {};
  }
};
/// A saver that owns its sink.
struct saver_with_sink : telling_sink, tautline::checkpoint_saver<telling_sink, decltype(every_steps{} | at_end)> {
  explicit saver_with_sink(output& out)
      : telling_sink{&out}, tautline::checkpoint_saver<telling_sink, decltype(every_steps{} | at_end)>(*this, every_steps{4} | at_end) {}
  saver_with_sink(saver_with_sink const&) = delete;
  saver_with_sink& operator=(saver_with_sink const&) = delete;
  using checkpoint_saver::save;
};

}  // namespace

law_report feed_fn() {
  return check_laws([] { return tautline::feed_fn<"rate">([](step_number step) { return 1.0 / static_cast<double>(step); }); });
}
law_report feed_fn_with_state() {
  return check_laws([] { return tautline::feed_fn<"rate">(falling_rate{}); });
}
law_report feed_fn_that_resets() {
  return check_laws([] { return tautline::feed_fn(rate_with_reset{}); });
}
law_report learning_rate_schedule() {
  return check_laws([] { return tautline::learning_rate_schedule<"rate">(schedules::cosine{.initial = 0.1, .steps = 9, .warm_up = 3}); });
}
law_report learning_rate_of_state() {
  return check_laws([] { return tautline::learning_rate_schedule<"rate">(falling_rate{}); });
}
law_report final_ops() {
  return check_laws([](output& out) {
    return tautline::final_ops<"w">::then([&out](auto const& result) { out.write(std::to_string(result[fetch<"w">])); });
  });
}
law_report global_step_waiter() {
  return check_laws(
      [](output& out) {
        return tautline::global_step_waiter{4, fake_sleeper{out.clock()}, [&out](char const* line) { out.write(line); }};
      },
      {.prepare = [](script& plan) { plan.initial_step = 4; }});
}
law_report checkpoint_saver() {
  return check_laws([](output& out) { return saver_with_sink(out); });
}

}  // namespace laws_of
