// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the raw session has no value of this name\. Mend: use one of the names
// expect-near: "weight"
// expect-near: "w".*"rate".*"x".*"loss"
#include "common.hpp"

struct my_hook {
  void after_create_session(auto& session) {
#ifndef CONTROL
    float const weight = session[fetch<"weight">];
    (void)weight;
#else
    float const weight = session[fetch<"w">];
    (void)weight;
#endif
  }
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
