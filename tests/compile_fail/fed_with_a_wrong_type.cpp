// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a fed value has a type that the graph.s node cannot take; both types stand beside this message\. Mend: feed a value of the node.s type
// expect-near: "rate".*the_caller_of_run.*(char).*float
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  auto result = session.run(target<"train">, feed<"rate">("fast"));
#else
  auto result = session.run(target<"train">, feed<"rate">(0.1));  // a double converts
#endif
  return result ? 0 : 1;
}
