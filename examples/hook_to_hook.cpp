// SPDX-License-Identifier: BSL-1.0
//
// One hook hands a value to others: `validator` looks at the model every third step and publishes what it found;
// `keep_best` asks for that name as for any value of the graph. The provider is sorted first, whatever the order of the
// arguments. In steps without a publication the consumer has no values, and its after_run without values is called.

#include <cstdio>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

struct validator {
  every_steps trigger{3};
  using provides = tautline::provides<"validation/error", float>;

  void after_run(auto& ctx) {
    if (!ctx.due()) return;
    float const w = ctx.session()[fetch<"w">];  // a look at the variable, without a run
    ctx.template publish<"validation/error">((w - 3.1F) * (w - 3.1F));
  }
};

struct keep_best {
  float best = 1e30F;

  auto before_run(auto&) { return fetch<"validation/error">; }
  void after_run(auto& ctx, auto& values) {
    float const error = values[fetch<"validation/error">];
    std::printf("step %2d: validation error %.4f%s\n", int(ctx.step()), double(error),
                error < best ? ", the best so far" : "");
    if (error > best) ctx.request_stop("the validation error grows");
    best = error < best ? error : best;
  }
  void after_run(auto& ctx) { std::printf("step %2d: no news\n", int(ctx.step())); }
};

int main() {
  auto graph = static_graph{}.variable<"w">(4.0F).update<"train", "w">([](float& w) { w -= 0.1F * 2 * (w - 3); });

  auto session = monitored(graph, keep_best{}, validator{});
  completion const done = session.run_to_completion(target<"train">);
  std::printf("stopped by %s at step %d: %s\n", done.stop.by, int(done.stop.step), done.stop.reason.words());
}
