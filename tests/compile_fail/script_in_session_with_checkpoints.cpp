// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this session saves or restores checkpoints, and this hook does not say what of it must be saved
#include <tautline/hooks/script.hpp>

#include "common.hpp"

struct store {
  restored restore(training_state const&) { return {}; }
};
inline store none;
script_body good(script_context<value_of<"loss", float>> life) {
  float const loss = co_await life.next_value();
  if (loss < 1) life.request_stop("low");
}

int main() {
#ifndef CONTROL
  auto session = monitored(static_graph{}.variable<"w">(1.0f).op<"loss", "w">([](float w) { return w; }).update<"train", "w">([](float& w) { w -= 1; }), options{restore_from{none}}, script<&good>{});
#else
  auto session = monitored(static_graph{}.variable<"w">(1.0f).op<"loss", "w">([](float w) { return w; }).update<"train", "w">([](float& w) { w -= 1; }), options{restore_from{none}}, script<&good, not_resumable>{});
#endif
  (void)session.run(target<"train">);
}
