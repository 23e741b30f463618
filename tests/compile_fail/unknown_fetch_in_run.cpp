// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a fetch of a name that the graph does not have, so it could never get a value\. Mend: use one of the names
// expect-near: the_caller_of_run.*"los"
// expect-near: "w".*"rate".*"x".*"loss"
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  auto result = session.run(target<"train">, fetch<"los">);
  return result[fetch<"los">] > 2 ? 1 : 0;
#else
  auto result = session.run(target<"train">, fetch<"loss">);
  return result[fetch<"loss">] > 2 ? 1 : 0;
#endif
}
