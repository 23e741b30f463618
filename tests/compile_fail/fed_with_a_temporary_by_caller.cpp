// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a fed value of this type goes by reference, and a temporary would be gone before the run\. Mend: keep it in a variable
// expect-near: "batch".*image
#include "common.hpp"

struct image {
  float pixels[64] = {};
};

int main() {
  auto session = monitored(static_graph{}.placeholder<"batch">(image{}), good_hook{});
#ifndef CONTROL
  auto result = session.run(feed<"batch">(image{}));
#else
  image next;
  auto result = session.run(feed<"batch">(next));
#endif
  return result ? 0 : 1;
}
