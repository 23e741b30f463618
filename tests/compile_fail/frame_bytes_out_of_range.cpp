// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: frame_bytes is between 64 and 2040\. Mend:
// expect-near: frame_bytes<16|Bytes = 16
#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), options{frame_bytes<16>{}}, good_hook{});
#else
  auto session = monitored(toy_graph(), options{frame_bytes<512>{}}, good_hook{});
#endif
  (void)session.run_to_completion(target<"train">);
}
