// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a script is made of a function script_body f\(script_context<\.\.\.> life\), and this is none
#include <tautline/hooks/script.hpp>

#include "common.hpp"

inline void f() {}
script_body good(script_context<value_of<"loss", float>> life) {
  float const loss = co_await life.next_value();
  if (loss < 1) life.request_stop("low");
}

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), script<&f>{});
#else
  auto session = monitored(toy_graph(), script<&good>{});
#endif
  (void)session.run(target<"train">);
}
