// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a node uses an input that is no value of the graph \(yet\)\. Mend: use one of the names
// expect-near: "my loss".*"weight".*"w"
#include "common.hpp"

struct my_hook {
  auto begin(auto graph) {
#ifndef CONTROL
    return std::move(graph).template op<"my loss", "weight">([](float w) { return w; });
#else
    return std::move(graph).template op<"my loss", "w">([](float w) { return w; });
#endif
  }
  auto before_run(auto&) { return fetch<"my loss">; }
  void after_run(auto&, auto&) {}
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
