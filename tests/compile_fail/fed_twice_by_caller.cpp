// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: two parties feed one name in the same run, so one of the values would be lost\. Mend: remove one of the feeds, or feed under conditions \(ask_if\)
// expect-near: "rate".*the_caller_of_run.*the_caller_of_run
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{});
#ifndef CONTROL
  auto result = session.run(feed<"rate">(0.1f), feed<"rate">(0.2f));
#else
  auto result = session.run(feed<"rate">(0.1f));
#endif
  return result ? 0 : 1;
}
