// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a fetch of a name that the graph does not have, so it could never get a value\. Mend: use one of the names
// expect-near: the_caller_of_run.*"los"
// expect-near: "w".*"rate".*"x".*"loss"
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  auto done = session.run_to_completion(fetch<"los">);
#else
  auto done = session.run_to_completion(fetch<"loss">);
#endif
  return done ? 0 : 1;
}
