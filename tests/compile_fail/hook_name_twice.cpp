// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: two hooks have one name, so neither messages, .* Mend: give each a name of its own
// expect-near: "train"
#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), named<"train">(good_hook{}), good_hook{}, named<"train">(good_hook{}));
#else
  auto session = monitored(toy_graph(), named<"train">(good_hook{}), good_hook{}, named<"test">(good_hook{}));
#endif
  (void)session.run_to_completion(target<"train">);
}
