// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a fed value of this type goes by reference, and a temporary would be gone before the run\. Mend: keep it in a variable
// expect-near: "batch".*image
#include "common.hpp"

struct image {
  float pixels[64] = {};
};
struct my_hook {
#ifndef CONTROL
  auto before_run(auto&) { return feed<"batch">(image{}); }
#else
  auto before_run(auto&) { return feed<"batch">(next); }
  image next;
#endif
};

int main() {
  auto session = monitored(static_graph{}.placeholder<"batch">(image{}), my_hook{});
  (void)session.run_steps(2);
}
