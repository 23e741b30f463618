// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this ema does not average a variable of that name\. Mend: use one of the names
#include <tautline/hooks/ema.hpp>

#include "common.hpp"

int main() {
  auto graph = toy_graph();
#ifndef CONTROL
  auto session = monitored(graph, named<"a">(ema(graph)));
  (void)session.hook<"a">().get<"v">();
#else
  auto session = monitored(graph, named<"a">(ema(graph)));
  (void)session.hook<"a">().get<"w">();
#endif
  (void)session.run(target<"train">);
}
