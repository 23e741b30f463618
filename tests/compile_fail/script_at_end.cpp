// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a script is not resumed in end because of its trigger
#include <tautline/hooks/script.hpp>

#include "common.hpp"

script_body good(script_context<value_of<"loss", float>> life) {
  float const loss = co_await life.next_value();
  if (loss < 1) life.request_stop("low");
}

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), script<&good>::with(every_steps{10} | at_end));
#else
  auto session = monitored(toy_graph(), script<&good>::with(every_steps{10}));
#endif
  (void)session.run(target<"train">);
}
