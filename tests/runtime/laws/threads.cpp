// SPDX-License-Identifier: BSL-1.0
#include <tautline/hooks/any_hook.hpp>
#include <tautline/hooks/basic_step_timer.hpp>
#include <tautline/hooks/phase_clock.hpp>
#include <tautline/hooks/step_timer.hpp>
#include <tautline/hooks/watchdog.hpp>
#if __has_include(<readerwriterqueue/readerwriterqueue.h>)
#include <tautline/hooks/off_thread.hpp>
#define TAUTLINE_HAS_QUEUE 1
#else
#define TAUTLINE_HAS_QUEUE 0
#endif

#include "list.hpp"

namespace laws_of {
namespace {

struct adding {
  double sum = 0;
  std::int64_t seen = 0;
  auto state() { return fields{field<"sum">(sum), field<"seen">(seen)}; }
  void begin(auto&) { sum = 0, seen = 0; }
  auto before_run(auto&) const { return fetch<"loss">; }
  void after_run(auto&, auto const& values) {
    sum += values[fetch<"loss">];
    ++seen;
  }
};

struct telling {
  static constexpr bool stateless = true;
  output* out;
  auto before_run(auto&) const { return fetch<"loss">; }
  void after_run(auto& ctx, auto const& values) const { out->add_scalar("loss", values[fetch<"loss">], ctx.step()); }
};
/// A slot with a hook in it.
struct filled_slot : tautline::any_hook<reads<"loss", double>> {
  explicit filled_slot(output& out) { install(telling{&out}); }
};

/// Feeds what it has added up, in some runs.
struct adding_and_feeding : adding {
  output* out;
  explicit adding_and_feeding(output& given) : out(&given) {}
  auto before_run(auto& ctx) const { return run_args{fetch<"loss">, ask_if(ctx.step() % 3 != 0, feed<"rate">(sum))}; }
  void end(auto&) const {
    uncounted const by_the_kit;
    out->write(std::to_string(sum) + " in " + std::to_string(seen));
  }
};
struct slot_with_state : tautline::any_hook<reads<"loss", double>, tautline::feeds<"rate", double>> {
  explicit slot_with_state(output& out) { install(adding_and_feeding(out)); }
};

}  // namespace

law_report basic_step_timer() {
  return check_laws([] { return tautline::basic_step_timer<>{{.deadline = 0.01}}; });
}
law_report step_timer() {
  return check_laws([](output& out) { return tautline::step_timer<session_clock>{{.deadline = 0.01}, {.log = out.sink(), .clock = out.clock()}}; },
                    {.except = {{law::resume_output, "times are those of one process"}}});
}
law_report any_hook() {
  return check_laws([](output& out) { return filled_slot(out); });
}
law_report any_hook_with_state() {
  return check_laws([](output& out) { return slot_with_state(out); }, {.values = {{"loss", jagged}}});
}
law_report phase_clock() {
  return check_laws([] { return tautline::phase_clock{{.step = 1}, 1024}; });
}
law_report watchdog() {
  return check_laws([] { return tautline::watchdog{{.step = 60}, {.log = false}}; });
}
law_report off_thread() {
#if TAUTLINE_HAS_QUEUE
  return check_laws([] { return tautline::off_thread{adding{}}; }, {.values = {{"loss", jagged}}});
#else
  return {"off_thread, which cannot be tried without its queue", {}};
#endif
}

}  // namespace laws_of
