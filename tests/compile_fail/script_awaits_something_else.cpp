// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a script waits for events of its session, and for nothing else
#include <tautline/hooks/script.hpp>

#include "common.hpp"

script_body body(script_context<value_of<"loss", float>> life) {
  float const loss = co_await life.next_value();
#ifndef CONTROL
  if (loss > 1) co_await std::suspend_always{};
#else
  if (loss > 1) (void)co_await life.next_step();
#endif
}

int main() {
  auto session = monitored(toy_graph(), script<&body>{});
  (void)session.run(target<"train">);
}
