// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a fed value has a type that the graph.s node cannot take; both types stand beside this message\. Mend: feed a value of the node.s type
// expect-near: "batch".*my_hook.*picture.*image
#include "common.hpp"

struct image {
  float pixels[64] = {};
};
struct picture {
  float pixels[64] = {};
};
struct my_hook {
  auto before_run(auto&) { return feed<"batch">(next); }
#ifndef CONTROL
  picture next;
#else
  image next;
#endif
};

int main() {
  auto session = monitored(static_graph{}.placeholder<"batch">(image{}), my_hook{});
  (void)session.run_steps(2);
}
