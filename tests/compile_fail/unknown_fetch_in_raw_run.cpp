// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a fetch of a name that the graph does not have, so it could never get a value\. Mend: use one of the names
// expect-near: a_raw_run.*"los"
// expect-near: "w".*"rate".*"x".*"loss"
#include "common.hpp"

struct my_hook {
  void after_create_session(auto& session) {
#ifndef CONTROL
    auto result = session.run(fetch<"los">);
    if (result && result[fetch<"los">] > 1) return;
#else
    auto result = session.run(fetch<"loss">);
    if (result && result[fetch<"loss">] > 1) return;
#endif
  }
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
