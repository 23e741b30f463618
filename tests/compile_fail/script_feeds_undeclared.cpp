// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the signature of this script does not say that it uses this
#include <tautline/hooks/script.hpp>

#include "common.hpp"

script_body body(script_context<value_of<"loss", float>> life) {
  float const loss = co_await life.next_value();
#ifndef CONTROL
  life.feed<"rate">(loss);
#else
  if (loss > 1) life.request_stop("high");
#endif
}

int main() {
  auto session = monitored(toy_graph(), script<&body>{});
  (void)session.run(target<"train">);
}
