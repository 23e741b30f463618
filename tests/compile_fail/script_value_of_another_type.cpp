// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this value has another type in the session than the script says
#include <tautline/hooks/script.hpp>

#include "common.hpp"

script_body bad(script_context<value_of<"loss", double>> life) {
  double const loss = co_await life.next_value();
  if (loss < 1) life.request_stop("low");
}
script_body good(script_context<value_of<"loss", float>> life) {
  float const loss = co_await life.next_value();
  if (loss < 1) life.request_stop("low");
}

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), script<&bad>{});
#else
  auto session = monitored(toy_graph(), script<&good>{});
#endif
  (void)session.run(target<"train">);
}
