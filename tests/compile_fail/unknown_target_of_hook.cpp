// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a target that the graph does not have, so nothing would run\. Mend: use one of the names
// expect-near: my_hook.*"trian"
// expect-near: "w".*"loss".*"train"
#include "common.hpp"

struct my_hook {
#ifndef CONTROL
  auto before_run(auto&) { return target<"trian">; }
#else
  auto before_run(auto&) { return target<"train">; }
#endif
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
