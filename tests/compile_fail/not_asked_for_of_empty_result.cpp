// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this value was not asked for; .*Mend: add fetch<"name"> to what before_run returns, or to the arguments of run or steps
// expect-near: "loss"
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  auto result = session.run(target<"train">);
  return result && result.get<"loss">() > 2 ? 1 : 0;
#else
  auto result = session.run(target<"train">, fetch<"loss">);
  return result && result.get<"loss">() > 2 ? 1 : 0;
#endif
}
