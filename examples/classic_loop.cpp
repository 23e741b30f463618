// SPDX-License-Identifier: BSL-1.0
//
// The life of a session, seen by a hook that logs all five callbacks, in the loop of the original systems: while not
// should_stop, run; then close. The argument chooses how it ends: `stop` (the hook asks for it at step 3),
// `end_of_input` (the input has two elements), or `error` (the third run fails: no `end`).

#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

using namespace tautline;

struct life_logger {
  void begin(auto&) { std::puts("begin: the graph may still be extended"); }
  void after_create_session(auto& session) { std::printf("after_create_session: %d steps so far\n", int(session.step())); }
  auto before_run(auto& ctx) {
    std::printf("before_run: step %d\n", int(ctx.step()));
    return fetch<"loss">;
  }
  void after_run(auto& ctx, auto& values) {
    std::printf("after_run: step %d, loss %g\n", int(ctx.step()), double(values[fetch<"loss">]));
    if (ctx.step() == 3) ctx.request_stop("three steps are enough");
  }
  void end(auto& session) { std::printf("end: %d steps\n", int(session.step())); }
};

int main(int count, char** arguments) {
  char const* const how = count == 2 ? arguments[1] : "";
  int const elements = std::strcmp(how, "end_of_input") == 0 ? 2 : 1000;
  int const fails_at = std::strcmp(how, "error") == 0 ? 3 : 1000;

  auto graph = static_graph{}.source<"x">(0, [=](int& x) { return ++x <= elements; }).op<"loss", "x">([=](int x) {
    if (x == fails_at) throw std::runtime_error("the sensor is unplugged");
    return 1.0F / static_cast<float>(x);
  });

  try {
    auto session = monitored(graph, life_logger{});
    while (!session.should_stop()) {
      auto const run = session.run(fetch<"loss">);
      if (run) std::printf("caller: loss %g\n", double(run[fetch<"loss">]));
    }
    session.close();

    char why[128];
    session.stop().write_to(why, sizeof why);
    std::printf("stopped by %s\n", why);
  } catch (std::runtime_error const& failed) {
    std::printf("caught: %s\n", failed.what());
  }
}
